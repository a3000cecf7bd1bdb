"""Run one OpInfo case on a backend and compare every sample with eager."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup import compile_function, recording
from bringup.recorder import Report
from bringup_coverage.accuracy import leaves, mismatch
from bringup_coverage.samples import Case, has_backward, opinfos, samples

UNINITIALISED = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")
"""OpInfos whose values nobody promises: shape, dtype and strides are compared."""


@dataclass(frozen=True)
class Outcome:
    """What a case gave.

    Attributes:
        case: ``operator:dtype``.
        status: pass, fail, fallback, error, untraceable (PyTorch cannot trace it, or eager not run it), crash or timeout.
        samples: how many samples were run.
        backward: whether gradients were compared too.
        detail: for anything but a pass, the first sample that went wrong and how.
    """

    case: str
    status: str
    samples: int
    backward: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return asdict(self)


def probe(case: Case, options: dict[str, Any], limit: int | None = None, *, forward_only: bool = False) -> Outcome:
    """Run every sample of a case; the first that goes wrong decides the status.

    Samples that PyTorch cannot trace, or eager not run, are counted and left out; a case of nothing else is untraceable.
    """
    op = opinfos()[case.operator]
    dtype = getattr(torch, case.dtype)
    backward = has_backward(op, dtype) and not forward_only
    count = untraceable = 0
    first = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(case, limit, requires_grad=backward):
            status, detail = _Sample(op, sample, options, backward).run()
            count += 1
            if status == "untraceable":
                untraceable += 1
                first = first or f"sample {count - 1}: {detail}"
            elif status != "pass":
                return Outcome(str(case), status, count, backward, f"sample {count - 1}: {detail}")
    if count and untraceable == count:
        return Outcome(str(case), "untraceable", count, backward, first)
    left_out = f"{untraceable} of {count} untraceable, first {first}" if untraceable else ""
    return Outcome(str(case), "pass", count, backward, left_out)


class _Sample:
    """One sample input: the operator as a function of its tensors, run in eager, in float64 and compiled."""

    def __init__(self, op: Any, sample: Any, options: dict[str, Any], backward: bool) -> None:
        self.op, self.sample, self.options, self.backward = op, sample, options, backward
        flat, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.flat = flat
        self.where = [i for i, v in enumerate(flat) if isinstance(v, torch.Tensor)]

    def function(self, *tensors: torch.Tensor) -> Any:
        values = list(self.flat)
        for i, tensor in zip(self.where, tensors, strict=True):
            values[i] = tensor
        input_, args, kwargs = pytree.tree_unflatten(values, self.spec)
        return self.op.op(input_, *args, **kwargs)

    def run(self) -> tuple[str, str]:
        try:
            expected = self.execute(self.function)
        except Exception as error:
            return "untraceable", f"eager itself raises {type(error).__name__}: {str(error).strip()[:200]}"
        report = Report()
        try:
            with recording() as report:
                actual = self.execute(compile_function(self.function, options=self.options))
        except Exception as error:
            return self.classify(error)
        if report.fallbacks:
            first = report.fallbacks[0]
            return "fallback", f"{first['operator']} ({first['reason']}: {first['detail']})"
        why = mismatch(actual, expected, self.reference)
        if why is not None and self.only_metadata(report):
            why = mismatch(pytree.tree_map(torch.zeros_like, actual), pytree.tree_map(torch.zeros_like, expected))
        return ("pass", "") if why is None else ("fail", why)

    def only_metadata(self, report: Report) -> bool:
        """Whether nobody promises the values: uninitialised memory, or random numbers from another stream than eager's."""
        return self.op.name in UNINITIALISED or any(i.random for p in report.programs for i in p.walk())

    def execute(
        self, function: Callable[..., Any], convert: Callable[[torch.Tensor], torch.Tensor] = lambda t: t
    ) -> Any:
        """Outputs, and gradients of a fixed weighted sum of them, of `function` on fresh copies of the inputs."""
        tensors = [_copy(convert(self.flat[i])) for i in self.where]
        torch.manual_seed(1)
        with torch.enable_grad() if self.backward else torch.no_grad():
            outputs = function(*tensors)
            if self.sample.output_process_fn_grad is not None:
                outputs = self.sample.output_process_fn_grad(outputs)
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

    def reference(self) -> Any:
        return self.execute(self.function, _wide)

    def classify(self, error: Exception) -> tuple[str, str]:
        """An operator that AOTAutograd cannot trace at all is untraceable; anything else is our error."""
        text = f"{type(error).__name__}: {str(error).strip()[:300]}"
        try:
            self.execute(_bare(self.function))
        except Exception as bare:
            return "untraceable", f"{type(bare).__name__}: {str(bare).strip()[:200]}"
        return "error", text


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    from bringup.torch_internals import aot_compile_function

    def keep(gm: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        return gm.forward

    return aot_compile_function(function, forward=keep, backward=keep, inference=keep, decompositions={})


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _cotangent(result: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    noise = torch.rand(result.shape, generator=generator, dtype=torch.float64) + 0.5
    return noise.to(result.dtype)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        wide = tensor.detach().to(torch.complex128)
    elif tensor.is_floating_point():
        wide = tensor.detach().to(torch.float64)
    else:
        return tensor
    return wide.requires_grad_(tensor.requires_grad)
