"""One experiment: a function of tensors, run in eager and compiled, results and gradients compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from bringup import compile_function, recording
from bringup.recorder import Report
from bringup_coverage.accuracy import error_of, leaves, mismatch

Function = Callable[..., Any]


@dataclass(frozen=True)
class Finding:
    """What an experiment gave.

    Attributes:
        status: pass, fail, fallback, error, or untraceable (PyTorch cannot trace it, or eager not run it).
        detail: for anything but a pass, what went wrong.
        error: the largest difference from eager over the largest element of eager's result; None when nothing was compared.
    """

    status: str
    detail: str = ""
    error: float | None = None


class Compiler(Protocol):
    """What is under test: it makes a function that should behave as the one it is given."""

    def compile(self, function: Function, *, dynamic: bool) -> Function:
        """`function`, compiled; at once or at the first call."""
        ...

    def control(self, function: Function, *, dynamic: bool) -> Function:
        """`function`, captured in the same way and run by eager: what fails here as well is not the compiler's fault."""
        ...


@dataclass(frozen=True)
class Bringup:
    """bringup's own compiler, without Dynamo."""

    options: dict[str, Any]

    def compile(self, function: Function, *, dynamic: bool) -> Function:
        """By `bringup.compile_function`."""
        return compile_function(function, options=self.options, dynamic=dynamic)

    def control(self, function: Function, *, dynamic: bool) -> Function:
        """AOTAutograd alone."""
        return _bare(function, dynamic)


@dataclass(frozen=True)
class Experiment:
    """A function of tensors under test.

    Attributes:
        function: takes the tensors; what it returns is compared, so it returns tensors that it writes to as well.
        tensors: its inputs; each run gets fresh copies.
        options: of bringup's own compiler.
        backward: whether gradients are compared too.
        dynamic: compile with symbolic sizes.
        process: applied to the outputs before they are compared (OpInfo's ``output_process_fn_grad``).
        metadata_only: nobody promises the values; shapes, dtypes and layouts are compared.
        copies: makes the fresh copies; without it each tensor is cloned by itself.
        compiler: what is under test; bringup's own compiler with `options` when it is None.
        random: the function draws random numbers, so that a compiler may give others than eager.
    """

    function: Function
    tensors: Sequence[torch.Tensor]
    options: dict[str, Any]
    backward: bool = False
    dynamic: bool = False
    process: Function | None = None
    metadata_only: bool = False
    copies: Callable[[], list[torch.Tensor]] | None = None
    compiler: Compiler | None = None
    random: bool = False

    @property
    def under_test(self) -> Compiler:
        """The compiler that is tested."""
        return self.compiler or Bringup(self.options)

    def run(self) -> Finding:
        """Run in eager, compile, run, compare."""
        try:
            expected = self.execute(self.function)
        except Exception as error:
            return Finding("untraceable", f"eager itself raises {type(error).__name__}: {str(error).strip()[:200]}")
        report = Report()
        try:
            with recording() as report:
                actual = self.execute(self.under_test.compile(self.function, dynamic=self.dynamic))
        except Exception as error:
            return self.classify(error)
        if report.fallbacks:
            first = report.fallbacks[0]
            return Finding("fallback", f"{first['operator']} ({first['reason']}: {first['detail']})")
        return self.compare(actual, expected, report)

    def compare(self, actual: list[torch.Tensor], expected: list[torch.Tensor], report: Report) -> Finding:
        """Compare by the accuracy policy; random numbers of another stream than eager's by shape and dtype."""
        if self.metadata_only:
            why = mismatch(_zeros(actual), _zeros(expected))
            return Finding("pass") if why is None else Finding("fail", why)
        why = mismatch(actual, expected, self.reference)
        random = self.random or any(i.random for p in report.programs for i in p.walk())
        if why is not None and random:
            why = mismatch(_zeros(actual), _zeros(expected))
        return Finding("pass", error=error_of(actual, expected)) if why is None else Finding("fail", why)

    def differentiable(self) -> bool:
        """Whether eager has gradients for it; `backward` must be set."""
        try:
            return len(self.execute(self.function)) > len(replace(self, backward=False).execute(self.function))
        except Exception:  # eager refuses: nothing to compare with
            return False

    def execute(
        self, function: Function, convert: Callable[[torch.Tensor], torch.Tensor] = lambda t: t
    ) -> list[torch.Tensor]:
        """Outputs, and gradients of a fixed weighted sum of them, of `function` on fresh copies of the inputs."""
        fresh = self.copies() if self.copies is not None else [_copy(t) for t in self.tensors]
        tensors = [convert(t) for t in fresh]
        torch.manual_seed(1)
        with torch.enable_grad() if self.backward else torch.no_grad():
            outputs = function(*tensors)
            if self.process is not None:
                outputs = self.process(outputs)
            results = leaves(outputs)
            if not self.backward:
                return [r.detach() for r in results]
            wanted = [t for t in tensors if t.requires_grad]
            roots = [r for r in results if r.requires_grad]
            gradients = (
                torch.autograd.grad(roots, wanted, [_cotangent(r) for r in roots], allow_unused=True)
                if roots and wanted
                else ()
            )
        return [r.detach() for r in results] + [g.detach() for g in gradients if g is not None]

    def reference(self) -> list[torch.Tensor]:
        """The same in float64 or complex128, dtypes that the function names itself included."""

        def widened(*tensors: torch.Tensor) -> Any:
            with _WideDtypes():  # not around the making of the inputs: they would be others
                return self.function(*tensors)

        return self.execute(widened, _wide)

    def classify(self, error: Exception) -> Finding:
        """What PyTorch cannot trace at all is untraceable; anything else is the compiler's error."""
        text = f"{type(error).__name__}: {str(error).strip()[:300]}"
        try:
            self.execute(self.under_test.control(self.function, dynamic=self.dynamic))
        except Exception as bare:
            return Finding("untraceable", f"{type(bare).__name__}: {str(bare).strip()[:200]}")
        return Finding("error", text)


def _bare(function: Function, dynamic: bool) -> Function:
    from bringup.torch_internals import aot_compile_function, boxed

    def keep(gm: torch.fx.GraphModule, _: Any) -> Function:
        return boxed(gm.forward)

    return aot_compile_function(
        function, forward=keep, backward=keep, inference=keep, decompositions={}, dynamic=dynamic
    )


def _zeros(results: list[torch.Tensor]) -> Any:
    return pytree.tree_map(torch.zeros_like, results)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _cotangent(result: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    noise = torch.rand(result.shape, generator=generator, dtype=torch.float64) + 0.5
    return noise.to(result.dtype)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    wide = _wide_dtype(tensor.dtype)
    return tensor.detach().to(wide).requires_grad_(tensor.requires_grad) if wide is not None else tensor


def _wide_dtype(dtype: torch.dtype) -> torch.dtype | None:
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else None


class _WideDtypes(TorchFunctionMode):
    """Calls that name a floating point or complex dtype get the wide one of its kind."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map_only(torch.dtype, lambda d: _wide_dtype(d) or d, (args, kwargs or {}))
        return func(*args, **kwargs)
