"""A target: what a device can run, and the single answer to "can it run this call?"."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch.fx.operator_schemas import normalize_function

from bringup.errors import TargetError
from bringup.target.call import Call
from bringup.target.kernel import Kernel
from bringup.target.leaves import leaf_calls
from bringup.target.trace import calls_of, function_of, trace
from bringup.target.validate import validate_hooks, validate_tables
from bringup.target.verdict import Reason, Status, Verdict
from bringup.torch_internals import (
    OpOverload,
    decomposed_above,
    differentiated_by_rules,
    is_composite_implicit,
    is_data_dependent,
    overload_name,
    shadow_inputs,
)

Decomposition = Callable[..., Any]


_NESTING = 4
"""How often an overload's decomposition may come back to it (complex to real, integer to float). One that comes back more often
goes in a circle, as PyTorch's references and prims do for an operator without a kernel; the call then stays what it is."""


class _Active(threading.local):
    """The overloads whose decompositions this thread is in, and how deep."""

    def __init__(self) -> None:
        self.depth: dict[OpOverload, int] = {}


@dataclass(frozen=True)
class Target:
    """A set of kernels and the decompositions that reach them.

    Attributes:
        name: how options and reports call it.
        kernels: the rows, required and optional; one per overload.
        decompositions: how other overloads are expressed in smaller ones. The target owns this table; PyTorch's is not touched.
        optional_kernels: whether the optional rows are in use.
        before_autograd: rewrites of the graph as Dynamo captured it, before AOTAutograd traces it.
        passes: rewrites of the functional ATen graph, run after bringup's own.
        lowerings: by overload, a function from the `bringup.Instruction` that the table gives to the one that is wanted.
        runtime: makes a boxed callable of a `bringup.Program`; None is the portable executor.

    Raises:
        TargetError: two kernels for one overload, a name that is no operator, a row or a hook that is none.
    """

    name: str
    kernels: tuple[Kernel, ...]
    decompositions: Mapping[OpOverload, Decomposition] = field(default_factory=dict)
    optional_kernels: bool = True
    before_autograd: tuple[Callable[..., Any], ...] = ()
    passes: tuple[Callable[..., Any], ...] = ()
    lowerings: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    runtime: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        validate_tables(self.name, self.kernels, self.decompositions, self.lowerings)
        validate_hooks(self.name, before_autograd=self.before_autograd, passes=self.passes)
        if self.runtime is not None:
            validate_hooks(self.name, runtime=(self.runtime,))

    @cached_property
    def rows(self) -> dict[str, Kernel]:
        """The kernels in use, by overload."""
        return {k.overload: k for k in self.kernels if k.required or self.optional_kernels}

    def kernel(self, overload: OpOverload) -> Kernel | None:
        """The row of an overload, whatever the call; None when it has none in use."""
        return self.rows.get(overload_name(overload))

    def refuses(self, call: Call) -> tuple[Reason, str] | None:
        """Why no kernel runs `call` natively, or None when one does."""
        kernel = self.kernel(call.overload)
        if kernel is not None:
            return kernel.refuses(call)
        if call.overload.namespace not in ("aten", "prims"):
            return Reason.CUSTOM_OPERATOR, f"{call.name} is a custom operator without a kernel"
        if call.overload in self.decompositions:
            return (
                Reason.NO_DECOMPOSITION,
                f"{call.name} has no kernel, and its decomposition leads back to it or does not take this call",
            )
        return Reason.NO_DECOMPOSITION, f"{call.name} has no kernel, and no decomposition into other operators"

    def runs(self, overload: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether a kernel takes this overload with these arguments."""
        return self.refuses(Call(overload, args, kwargs)) is None

    def verdict(self, call: Call, *, dynamic: bool = False) -> Verdict:
        """Whether and how the target runs `call`: the answer that the compiler and every report use.

        Args:
            call: with gradients enabled, a call with tensors that require one is judged with its backward.
            dynamic: judge it with symbolic sizes.
        """
        refusal = self.refuses(call)
        gradients = torch.is_grad_enabled() and any(t.requires_grad for t in call.tensors())
        above = decomposed_above(call.overload) is not None
        handed_over = not (above or is_composite_implicit(call.overload) or call.overload._schema.is_mutable)
        if refusal is None and not gradients and not dynamic and handed_over:
            return Verdict(Status.NATIVE)
        try:
            leaves = self._quickly(call, dynamic, gradients) or self._thoroughly(call, dynamic)
        except TargetError:
            raise
        except Exception as error:
            reason = Reason.DATA_DEPENDENT if is_data_dependent(error) else Reason.UNTRACEABLE
            return Verdict(Status.NONE, reason, f"{type(error).__name__}: {_first_line(error)}")
        refused = [(leaf, why) for leaf in leaves if (why := self.refuses(leaf)) is not None]
        if refused:
            leaf, (reason, detail) = next((r for r in refused if r[0].overload is call.overload), refused[0])
            if leaf.overload is not call.overload:
                reason, detail = Reason.LEAF_MISSING, f"decomposes to {leaf}: {detail}"
            return Verdict(Status.NONE, reason, detail, missing=tuple(sorted({r[0].name for r in refused})))
        if refusal is None and (handed_over or any(leaf.overload is call.overload for leaf in leaves)):
            return Verdict(Status.NATIVE)
        unreached = (
            "" if refusal is not None else f"PyTorch rewrites {call.name} before a kernel is asked; its row is not used"
        )
        return Verdict(Status.DECOMPOSED, detail=unreached, through=tuple(sorted({leaf.name for leaf in leaves})))

    def _quickly(self, call: Call, dynamic: bool, gradients: bool) -> list[Call] | None:
        """The leaf calls without graphs; None when one has no kernel, or they can't be told: then the compiler's way decides."""
        function, tensors = function_of(call)
        writes = call.overload._schema.is_mutable
        if gradients and (writes or differentiated_by_rules(call.overload)):
            return None  # AOTAutograd's own affair
        if gradients and self.refuses(Call(torch.ops.aten.detach.default, tuple(call.tensors())[:1])) is not None:
            return None  # AOTAutograd detaches what a backward keeps
        if writes and normalize_function(call.overload, call.args, dict(call.kwargs)) is None:
            return None  # functionalization does not find what is written to
        for stand_ins in (None,) if dynamic else (shadow_inputs, None):  # the cheaper first
            with suppress(Exception):  # the compiler's way may do without it, and says why where it does not
                leaves = leaf_calls(
                    function,
                    tensors,
                    self.table,
                    dynamic=dynamic,
                    writes=writes,
                    gradients=gradients,
                    stand_ins=stand_ins,
                )
                if writes and {leaf.overload for leaf in leaves} == {torch.ops.aten.copy_.default}:
                    return None  # of another's data, or the other's storage is taken: only AOTAutograd tells them apart
                if all(self.refuses(leaf) is None for leaf in leaves):
                    return leaves
        return None

    def _thoroughly(self, call: Call, dynamic: bool) -> list[Call]:
        """The leaf calls of the call's graphs; sizes and numbers that depend on data need symbols, which are not asked for without need."""
        try:
            graphs = trace(call, self.table, dynamic=dynamic)
        except Exception as error:
            if dynamic or not is_data_dependent(error):
                raise
            graphs = trace(call, self.table, dynamic=True)
        return [leaf for graph in graphs for leaf in calls_of(graph)]

    @cached_property
    def table(self) -> dict[OpOverload, Decomposition]:
        """The decomposition table for tracing: an entry steps aside where a kernel takes the call."""
        active = _Active()
        return {op: self._guarded(op, fn, active) for op, fn in self.decompositions.items()}

    def _guarded(self, overload: OpOverload, fn: Decomposition, active: _Active) -> Decomposition:
        """`fn`, unless a kernel takes the call, or the decomposition has led back to the overload itself."""
        kernel = self.kernel(overload)

        def unless_native(*args: Any, **kwargs: Any) -> Any:
            if kernel is not None and kernel.refuses(Call(overload, args, kwargs)) is None:
                return NotImplemented
            depth = active.depth.get(overload, 0)
            if depth >= _NESTING:
                return NotImplemented
            active.depth[overload] = depth + 1
            try:
                return fn(*args, **kwargs)
            finally:
                active.depth[overload] = depth

        return unless_native

    def with_options(self, *, optional_kernels: bool) -> Target:
        """The same target with its optional kernels switched on or off."""
        return self if optional_kernels == self.optional_kernels else replace(self, optional_kernels=optional_kernels)

    def with_decompositions(self, more: Mapping[OpOverload, Decomposition]) -> Target:
        """The same target with further decompositions, which win over its own."""
        return replace(self, decompositions={**self.decompositions, **more})

    def with_kernels(self, more: Iterable[Kernel]) -> Target:
        """The same target with further kernels; a row for an overload that it has already replaces the old one."""
        rows = {k.overload: k for k in self.kernels} | {k.overload: k for k in more}
        return replace(self, kernels=tuple(rows.values()))


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
