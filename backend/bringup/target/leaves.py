"""The leaf calls that one call ends in, watched while it runs on fake tensors: much quicker than tracing graphs, and enough for a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bringup.target.call import Call, on_host
from bringup.torch_internals import (
    OpOverload,
    decomposed_above,
    fake_inputs,
    functionalized,
    is_composite_implicit,
    is_fake,
    loops_run_once,
    with_gradients,
)


class NotFunctional(Exception):
    """A write that only functionalization on every level removes."""


class ImplementedInPython(Exception):
    """A call that PyTorch takes apart in Python above every device, where it is asked to look there first."""


class Outcome(Enum):
    """What came of a decomposition that was asked."""

    TAKEN = "taken"
    DECLINED = "declined"
    RAISED = "raised"


class Observer(Protocol):
    """Is told of each decomposition while it runs, and of each leaf call; what happens between the two happens inside."""

    def enter(self, call: Call, *, by_table: bool) -> None:
        """A call is about to be decomposed, by the table, or by PyTorch, which makes the operator of others above the device."""

    def leave(self, outcome: Outcome) -> None:
        """The decomposition entered last is done."""

    def leaf(self, call: Call) -> None:
        """A call that nothing decomposes."""


def observed(overload: OpOverload, decomposition: Callable[..., Any], observer: Observer, *, by_table: bool) -> Any:
    """`decomposition`, of whose calls an observer is told."""

    def told(*args: Any, **kwargs: Any) -> Any:
        observer.enter(Call(overload, args, kwargs), by_table=by_table)
        outcome = Outcome.RAISED
        try:
            result = decomposition(*args, **kwargs)
            outcome = Outcome.DECLINED if result is NotImplemented else Outcome.TAKEN
            return result
        finally:
            observer.leave(outcome)

    return told


@dataclass
class _Seen:
    """Leaf calls with what they gave. The results are kept, so that no two have the same identity."""

    calls: list[tuple[Call, Any]] = field(default_factory=list)

    def made(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor was just made of nothing."""
        return bool(self.calls) and self.calls[-1][1] is tensor and next(self.calls[-1][0].tensors(), None) is None

    def live(self, roots: Any) -> list[Call]:
        """The calls that the roots, a write to a tensor, or what is no tensor depend on."""
        wanted = {id(t) for t in _tensors(roots)}
        found: list[Call] = []
        for call, result in reversed(self.calls):
            given = _tensors(result)
            if given and not call.overload._schema.is_mutable and not any(id(t) in wanted for t in given):
                continue
            wanted |= {id(t) for t in call.tensors()}
            if not on_host(call, result):
                found.append(call)
        return found[::-1]


class _Watch(TorchDispatchMode):
    """Applies a decomposition table as tracing does, and writes down what it does not decompose."""

    def __init__(
        self,
        decompositions: Mapping[OpOverload, Callable[..., Any]],
        seen: _Seen,
        observer: Observer | None,
        *,
        python_first: bool,
    ) -> None:
        super().__init__()
        self.python_first = python_first
        self.decompositions = decompositions
        self.seen = seen
        self.observer = observer

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.namespace == "prim":  # a question about a tensor, not the device's work
            return func(*args, **kwargs)
        if not self.python_first and decomposed_above(func) is not None:
            raise ImplementedInPython(func)
        decomposition = self.decompositions.get(func)
        if decomposition is not None:
            if self.observer is not None:
                decomposition = observed(func, decomposition, self.observer, by_table=True)
            with self:
                result = decomposition(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if is_composite_implicit(func):
            parts = func.decompose
            if self.observer is not None:
                parts = observed(func, parts, self.observer, by_table=False)
            with self:
                return parts(*args, **kwargs)
        if func._schema.is_mutable and func is not torch.ops.aten.copy_.default:
            raise NotFunctional(func)  # an operator made of others writes to what it has made
        call = Call(func, tuple(args), kwargs)
        if func is torch.ops.aten.detach.default and self.seen.made(args[0]):
            return args[0]  # the last step of making a constant
        result = func(*args, **kwargs)
        given = list(call.tensors())
        if not given or any(map(is_fake, given)):  # else arithmetic on constants, done while it is traced
            self.seen.calls.append((call, result))
            if self.observer is not None:
                self.observer.leaf(call)
        return result


def leaf_calls(
    function: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    decompositions: Mapping[OpOverload, Callable[..., Any]],
    *,
    dynamic: bool = False,
    writes: bool = False,
    gradients: bool = False,
    stand_ins: Callable[[Sequence[torch.Tensor]], tuple[Any, list[Any]]] | None = None,
    observer: Observer | None = None,
) -> list[Call]:
    """The calls that a function of tensors ends in below functionalization, what nothing depends on left out.

    With `gradients` those of the inputs that require one are followed; the function may not write to its inputs then. As the
    compiler does, it first runs the function undecomposed, so that what the operators' own fake kernels refuse is refused; on fakes
    of its own where the function `writes` to its inputs. An `observer` is told of the decompositions on the way, and of all leaf
    calls, those that nothing depends on too. `stand_ins` makes other tensors without data than fakes, and their mode.

    Raises:
        Exception: whatever an operator raises that has no fake implementation, reads data, or is no plain operator.
    """
    plain, stand_ins = function, stand_ins or partial(fake_inputs, dynamic=dynamic)
    mode, fakes = stand_ins(inputs)
    given: Sequence[Any] = fakes
    if gradients:
        wanted = [i for i, t in enumerate(inputs) if t.requires_grad]
        function, given = with_gradients(lambda *tensors: _tensors(plain(*tensors)), wanted), (fakes,)
    python_first = dynamic or observer is not None
    with mode, torch.no_grad():
        results = functionalized(function, python_first=python_first)(*given)
        if gradients:
            given = (fakes, [torch.empty_like(r) for r in results[0]])

    def watched(*, python_first: bool) -> list[Call]:
        seen = _Seen()
        watch = _Watch(decompositions, seen, observer, python_first=python_first)
        inside, tensors = stand_ins(inputs) if writes else (mode, given)
        with inside, torch.no_grad(), watch, loops_run_once() as conditions:
            results = functionalized(function, python_first=python_first)(*tensors)
        return seen.live([results, conditions])

    try:
        return watched(python_first=python_first)
    except ImplementedInPython:
        return watched(python_first=True)


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in _tensors(v)]
    return []
