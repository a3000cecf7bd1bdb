"""The calls of one overload, traced under an observer of the table's entries."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from bringup.target.call import Call
from bringup.target.leaves import leaf_calls, observed
from bringup.target.target import Target
from bringup.target.trace import calls_of, function_of, trace
from bringup.torch_internals import find_overload, is_data_dependent
from bringup_coverage.calls import Recipe, recipes
from bringup_coverage.lint.harm import Harm, harm, passed_by
from bringup_coverage.lint.usage import Count, Usage


@dataclass(frozen=True)
class Task:
    """Calls to trace: of one overload, in some dtypes, so many in each, with gradients or without."""

    name: str
    dtypes: tuple[str, ...] = ("float32",)
    calls: int = 2
    gradient: bool = False


@dataclass
class Watched:
    """What the traces of a task showed; plain data of a worker.

    Attributes:
        name: the overload.
        traced: calls that could be traced.
        failed: calls that could not.
        counts: by entry.
        harms: what entries spoil.
        lost: why the worker gave nothing; empty when it did.
    """

    name: str
    traced: int = 0
    failed: int = 0
    counts: dict[str, Count] = field(default_factory=dict)
    harms: list[Harm] = field(default_factory=list)
    lost: str = ""


def watch(target: Target, task: Task) -> Watched:
    """Trace the calls of a task on a target."""
    usage = Usage(target)
    found = Watched(task.name, counts=usage.counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in task.dtypes:
            for recipe in recipes(task.name, dtype, task.calls):
                _watch_call(found, target, _call(recipe, gradient=task.gradient), usage, gradient=task.gradient)
    return found


def _call(recipe: Recipe, *, gradient: bool) -> Call:
    overload = find_overload(recipe.overload)
    assert overload is not None
    call = Call(overload, *recipe.fresh())
    for tensor in call.tensors() if gradient else ():
        tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    return call


def _watch_call(found: Watched, target: Target, call: Call, usage: Usage, *, gradient: bool) -> None:
    usage.begin()
    leaves: Sequence[Call]
    try:
        leaves = _with_gradients(target, call, usage) if gradient else _forward(target, call, usage)
    except (
        Exception
    ):  # the operator has no fake kernel, reads data, or an entry fails; whether that is harm is seen below
        leaves, failed = [], True
        found.failed += 1
    else:
        failed = False
        found.traced += 1
    if gradient:
        return
    if (by := passed_by(target, call, leaves)) is not None:
        found.harms.append(by)
    elif failed or any(target.refuses(leaf) is not None for leaf in leaves):
        found.harms += harm(target, call, usage.suspects)


def _forward(target: Target, call: Call, usage: Usage) -> Sequence[Call]:
    """The leaf calls, by watching, or by graphs where that does not do."""
    function, tensors = function_of(call)
    try:
        return leaf_calls(function, tensors, target.table, writes=call.overload._schema.is_mutable, observer=usage)
    except Exception:
        usage.begin()
    try:
        return _graphs(target, call, usage, dynamic=False)
    except Exception as error:
        if not is_data_dependent(error):
            raise
        usage.begin()
    return _graphs(target, call, usage, dynamic=True)


def _with_gradients(target: Target, call: Call, usage: Usage) -> Sequence[Call]:
    with torch.enable_grad():
        return _graphs(target, call, usage, dynamic=False)


def _graphs(target: Target, call: Call, usage: Usage, *, dynamic: bool) -> Sequence[Call]:
    table = {op: observed(op, fn, usage, by_table=True) for op, fn in target.table.items()}
    leaves = [leaf for graph in trace(call, table, dynamic=dynamic) for leaf in calls_of(graph)]
    for leaf in leaves:
        usage.leaf(leaf)
    return leaves
