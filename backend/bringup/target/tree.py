"""How a call comes apart: each decomposition with what it calls, down to the calls that kernels take or that none takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from torch import fx

from bringup.target.call import Call
from bringup.target.leaves import Outcome, leaf_calls, observed
from bringup.target.target import Target
from bringup.target.trace import calls_of, function_of, trace
from bringup.target.verdict import Reason
from bringup.torch_internals import decomposed_above, is_composite_implicit, is_data_dependent


class Way(Enum):
    """What became of a call."""

    KERNEL = "kernel"
    MISSING = "missing"
    TABLE = "table"
    PYTORCH = "pytorch"
    FUNCTIONALIZED = "functionalized"


@dataclass
class Step:
    """One call of the tree.

    Attributes:
        call: the call, with fake tensors below the root.
        way: a kernel takes it, none does, an entry of the target's table decomposes it, PyTorch does above the device, or
            functionalization writes it in operators without writes.
        steps: what it is made of, in order; empty for a kernel and for what is missing.
        refusal: why no kernel takes it, where it is missing.
    """

    call: Call
    way: Way
    steps: list[Step] = field(default_factory=list)
    refusal: tuple[Reason, str] | None = None

    def walk(self) -> Iterator[Step]:
        """This step and all below it."""
        yield self
        for step in self.steps:
            yield from step.walk()


@dataclass(frozen=True)
class Tree:
    """A call's steps.

    Attributes:
        root: the call itself.
        whole: False where only graphs could be made: the entries that ran are nested, the leaf calls all hang from the root.
    """

    root: Step
    whole: bool = True


class _Builder:
    """An observer that builds steps."""

    def __init__(self) -> None:
        self.roots: list[Step] = []
        self.open: list[Step] = []

    def _here(self) -> list[Step]:
        return self.open[-1].steps if self.open else self.roots

    def enter(self, call: Call, *, by_table: bool) -> None:
        step = Step(call, Way.TABLE if by_table else Way.PYTORCH)
        self._here().append(step)
        self.open.append(step)

    def leave(self, outcome: Outcome) -> None:
        self.open.pop()
        if outcome is Outcome.DECLINED:  # the call goes another way, which is told too
            self._here().pop()

    def leaf(self, call: Call) -> None:
        self._here().append(Step(call, Way.KERNEL))


def tree_of(target: Target, call: Call) -> Tree:
    """The steps by which a target runs a call, gradients aside.

    Raises:
        Exception: whatever keeps the call from being traced; `Target.verdict` says it in a sentence.
    """
    builder = _Builder()
    function, tensors = function_of(call)
    try:
        leaves = leaf_calls(function, tensors, target.table, writes=call.overload._schema.is_mutable, observer=builder)
    except Exception:  # as for verdicts, graphs decide
        return _from_graphs(target, call)
    live = {id(leaf) for leaf in leaves}
    steps = [step for step in builder.roots if _prune(step, live)]
    for step in steps:
        _judge(step, target)
    return Tree(_rooted(call, steps))


def _from_graphs(target: Target, call: Call) -> Tree:
    try:
        builder, graphs = _traced(target, call, dynamic=False)
    except Exception as error:
        if not is_data_dependent(error):
            raise
        builder, graphs = _traced(target, call, dynamic=True)
    leaves = [Step(leaf, Way.KERNEL) for graph in graphs for leaf in calls_of(graph)]
    for leaf in leaves:
        _judge(leaf, target)
    root = Step(call, _above(call))
    root.steps = [*builder.roots, *leaves]
    if len(leaves) == 1 and not builder.roots and leaves[0].call.overload is call.overload:
        return Tree(leaves[0])
    return Tree(root, whole=False)


def _traced(target: Target, call: Call, *, dynamic: bool) -> tuple[_Builder, list[fx.GraphModule]]:
    builder = _Builder()
    table = {op: observed(op, fn, builder, by_table=True) for op, fn in target.table.items()}
    return builder, trace(call, table, dynamic=dynamic)


def _prune(step: Step, live: set[int]) -> bool:
    """Take away leaf calls that nothing depends on, and what was made of nothing else; whether the step stays."""
    if step.way is Way.KERNEL:
        return id(step.call) in live
    before, step.steps = step.steps, [s for s in step.steps if _prune(s, live)]
    return bool(step.steps) or (not before and step.way is Way.TABLE)


def _judge(step: Step, target: Target) -> None:
    for one in step.walk():
        if one.way is Way.KERNEL and (refusal := target.refuses(one.call)) is not None:
            one.way, one.refusal = Way.MISSING, refusal


def _rooted(call: Call, steps: list[Step]) -> Step:
    if len(steps) == 1 and steps[0].call.overload is call.overload:
        return steps[0]
    return Step(call, _above(call), steps)


def _above(call: Call) -> Way:
    """What happens to a call above the device: PyTorch makes it of other operators, or of one that writes to nothing."""
    made_of_others = is_composite_implicit(call.overload) or decomposed_above(call.overload) is not None
    return Way.PYTORCH if made_of_others else Way.FUNCTIONALIZED
