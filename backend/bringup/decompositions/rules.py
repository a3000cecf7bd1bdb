"""Decompositions made from schemas: one rule for a whole kind of overload, no operator's name in it.

* ``X.Scalar`` whose sibling ``X.Tensor`` takes a tensor in the same place: the number becomes a 0-dim tensor.
* ``X_copy`` where X takes the same arguments and returns a view: a contiguous copy of what X returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from bringup.decompositions.registry import Decomposition
from bringup.torch_internals import (
    OpOverload,
    find_overload,
    is_composite_implicit,
    registered_names,
    written_arguments,
)

TAKES_NUMBERS = (
    "aten::add.Tensor",
    "aten::sub.Tensor",
    "aten::mul.Tensor",
    "aten::div.Tensor",
    "aten::div.Tensor_mode",
)
"""Operators whose tensor forms take Python numbers in the second place."""


def scalar_as_tensor(value: Any, like: torch.Tensor) -> torch.Tensor:
    """A 0-dim tensor that promotes with `like` as the Python number `value` would.

    Integers that do not fit wrap around, as they do in eager's kernels.
    """
    dtype = torch.result_type(like, value)
    if type(value) is int and not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool:
        info = torch.iinfo(dtype)
        if not info.min <= value <= info.max:
            return torch.full((), value, dtype=torch.int64, device=like.device).to(dtype)
    return torch.full((), value, dtype=dtype, device=like.device)


def _candidates() -> Iterator[OpOverload]:
    """Overloads that a rule may cover; names only narrow the search, the schemas decide."""
    for name in registered_names("aten"):
        if "scalar" in name.lower() or name.partition(".")[0].endswith("_copy"):
            overload = find_overload(name)
            if overload is not None:
                yield overload


def _types(overload: OpOverload) -> list[tuple[str, str]]:
    return [(a.name, str(a.type)) for a in overload._schema.arguments]


def _tensor_sibling(overload: OpOverload) -> tuple[OpOverload, tuple[int, ...]] | None:
    """The overload of the same operator that takes tensors where this one takes numbers, and those positions."""
    mine = _types(overload)
    packet = overload._overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        theirs = _types(other)
        if other is overload or written_arguments(other) or [n for n, _ in mine] != [n for n, _ in theirs]:
            continue
        changed = tuple(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
        if changed and all(mine[i][1] == "number" and theirs[i][1] == "Tensor" for i in changed):
            return other, changed
    return None


def _scalar_rule(sibling: OpOverload, positions: tuple[int, ...]) -> Decomposition:
    takes_numbers = sibling._name in TAKES_NUMBERS

    def with_tensors(*args: Any, **kwargs: Any) -> Any:
        like = next((a for a in args if isinstance(a, torch.Tensor)), None)
        if like is None or any(i >= len(args) for i in positions):
            return NotImplemented
        changed = list(args)
        for i in positions:
            if not takes_numbers or i == 0:
                changed[i] = scalar_as_tensor(args[i], like)
        return sibling(*changed, **kwargs)

    return with_tensors


def _viewing_sibling(overload: OpOverload) -> OpOverload | None:
    """The overload X that returns a view, for a functional X_copy with X's arguments."""
    base = overload._overloadpacket.__name__
    packet = getattr(torch.ops.aten, base.removesuffix("_copy"), None) if base.endswith("_copy") else None
    if packet is None or overload._overloadname not in packet.overloads():
        return None
    other = getattr(packet, overload._overloadname)
    views = any(
        r.alias_info is not None or "[]" in str(r.type) for r in other._schema.returns
    ) or is_composite_implicit(other)
    return other if views and not written_arguments(other) and _types(other) == _types(overload) else None


def _copy_rule(viewing: OpOverload) -> Decomposition:
    def copied(*args: Any, **kwargs: Any) -> Any:
        result = viewing(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            return torch.ops.aten.clone(result, memory_format=torch.contiguous_format)
        return [torch.ops.aten.clone(r, memory_format=torch.contiguous_format) for r in result]

    return copied


def schema_rules() -> dict[OpOverload, Decomposition]:
    """The rules' entry for every registered aten overload that one of them covers."""
    table: dict[OpOverload, Decomposition] = {}
    for overload in _candidates():
        if written_arguments(overload) or is_composite_implicit(overload):
            continue
        viewing = _viewing_sibling(overload)
        if viewing is not None:
            table[overload] = _copy_rule(viewing)
            continue
        sibling = _tensor_sibling(overload)
        if sibling is not None:
            table[overload] = _scalar_rule(*sibling)
    return table
