"""Whether an entry does harm: a call ends in a missing kernel, and another way would have run it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from bringup.target.call import Call
from bringup.target.target import Target
from bringup.torch_internals import OpOverload, is_composite_implicit, overload_name, pytorch_decompositions


@dataclass(frozen=True)
class Harm:
    """A call that an entry spoils.

    Attributes:
        entry: the overload whose decomposition does it; or whose kernel is passed by.
        call: the call that has no verdict because of it, as text.
        detail: what it ends in.
        instead: what would run it.
    """

    entry: str
    call: str
    detail: str
    instead: str


def harm(target: Target, call: Call, suspects: Iterable[OpOverload]) -> Iterator[Harm]:
    """The entries without which a call that has no verdict would have one.

    Args:
        target: whose verdict is none.
        call: the call.
        suspects: the entries on the way to what is missing.
    """
    verdict = target.verdict(call)
    if verdict:
        return
    for overload in suspects:
        for instead, decompositions in _others(target, overload):
            if replace(target, decompositions=decompositions).verdict(call):
                yield Harm(overload_name(overload), str(call), verdict.detail, instead)
                break


def _others(target: Target, overload: OpOverload) -> Iterator[tuple[str, dict[OpOverload, Callable[..., Any]]]]:
    """Other tables, each without the entry of an overload, or with PyTorch's in its place."""
    table = dict(target.decompositions)
    mine = table.pop(overload)
    if is_composite_implicit(overload):
        yield "PyTorch's composite, without the entry", table
    theirs = pytorch_decompositions().get(overload)
    if theirs is not None and theirs is not mine:
        yield "PyTorch's own decomposition", {**table, overload: theirs}


def passed_by(target: Target, call: Call, leaves: Iterable[Call]) -> Harm | None:
    """The harm to a call that the operator's kernel takes, where the trace comes apart before and ends in a missing kernel."""
    leaves = list(leaves)
    if target.refuses(call) is not None or any(leaf.overload is call.overload for leaf in leaves):
        return None
    missing = next((why for leaf in leaves if (why := target.refuses(leaf)) is not None), None)
    if missing is None:
        return None
    return Harm(call.name, str(call), missing[1], "its own kernel, which no compiled graph reaches")
