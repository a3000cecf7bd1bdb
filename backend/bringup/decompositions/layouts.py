"""What a decomposition gives lies in memory as what the operator gives: programs were traced with the operator's strides and view by them.

The operator's own fake kernel says what those are; Dynamo asked it too. Only the outermost decomposition is held to it, what it is made
of may lie as it likes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from bringup.decompositions.memory_formats import dense_strides
from bringup.decompositions.registry import Decomposition
from bringup.torch_internals import (
    OpOverload,
    concrete,
    fakes_of_their_own,
    is_fake,
    overload_name,
    unbacked_or_symbolic,
)

aten = torch.ops.aten

_READS_DATA = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


FORGETFUL: dict[str, str] = {
    "aten::_grouped_mm": "eager pads narrow rows to 16 bytes",
    "aten::channel_shuffle": "eager keeps channels innermost",
    "aten::floor_divide": "eager follows the operand that is no scalar",
    "aten::heaviside": "eager follows the operand of more elements",
    "aten::normal.Tensor_Tensor": "eager puts the dimensions in order",
    "aten::reflection_pad3d": "eager keeps channels innermost of a volume without batch",
    "aten::replication_pad3d": "eager keeps channels innermost of a volume without batch",
    "aten::roll": "eager joins slices, which keeps channels innermost",
}
"""Operators whose fake kernels give other strides than their real ones, and whose decompositions give the real ones."""


class _Depth(threading.local):
    """Whether this thread is in a decomposition that will be laid out."""

    inside = False


_DEPTH = _Depth()


def laid_out(overload: OpOverload, fn: Decomposition) -> Decomposition:
    """`fn`, its results copied into the order of dimensions that `overload` gives them where they are in another."""
    views = any(r.alias_info is not None for r in overload._schema.returns)
    if views or any(t in overload.tags for t in _READS_DATA) or overload_name(overload) in FORGETFUL:
        return fn  # a view lies where its base does; and what reads data has no fake results

    @functools.wraps(fn)
    def in_layout(*args: Any, **kwargs: Any) -> Any:
        if _DEPTH.inside:
            return fn(*args, **kwargs)
        _DEPTH.inside = True
        try:
            result = fn(*args, **kwargs)
        finally:
            _DEPTH.inside = False
        if result is NotImplemented:
            return result
        orders = _wanted_orders(overload, args, kwargs, result)
        if not any(orders):
            return result
        flat, spec = pytree.tree_flatten(result)
        return pytree.tree_unflatten([_ordered(r, o) for r, o in zip(flat, orders, strict=True)], spec)

    return in_layout


def _wanted_orders(overload: OpOverload, args: Any, kwargs: Any, result: Any) -> list[list[int] | None]:
    """For each part of a result the order that its dimensions have to be brought into, outermost first, or None."""
    ours = pytree.tree_leaves(result)
    theirs: Sequence[_Strides | None] = ()
    # it has no strides to ask for where an argument is a constant, of no plain kind, or has a size that only data tells
    with suppress(ValueError, TypeError):
        theirs = _strides_of(overload, _key(args), _key(tuple(kwargs.items())))
    if len(ours) != len(theirs):
        return [None] * len(ours)
    return [_other_order(a, e) for a, e in zip(ours, theirs, strict=True)]


class _Dense(NamedTuple):
    """How a tensor argument lies in memory."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device


def _key(value: Any) -> Any:
    """An argument as a value that can be compared and hashed, and tells numbers of different types apart.

    Raises:
        ValueError: it has no value in the example inputs, or is a tensor of another kind than a dense fake one.
    """
    if isinstance(value, torch.Tensor):
        if not is_fake(value) or value.layout is not torch.strided or value.is_conj() or value.is_neg():
            raise ValueError("not a plain dense fake tensor")
        shape, stride = (tuple(_example(s) for s in facts) for facts in (value.shape, value.stride()))
        return _Dense(shape, stride, value.dtype, value.device)
    if isinstance(value, (list, tuple)):
        return (type(value) is list, *map(_key, value))
    value = _example(value)
    return type(value), value


def _example(value: Any) -> Any:
    """The value that a number has in the example inputs; a symbolic one is not specialised by asking."""
    if not unbacked_or_symbolic(value):
        return value
    if value.node.hint is None:
        raise ValueError(f"{value} has no value in the example inputs")
    return value.node.hint


def _value(key: Any) -> Any:
    """An argument of that key."""
    if isinstance(key, _Dense):
        return torch.empty_strided(key.shape, key.stride, dtype=key.dtype, device=key.device)
    kind, *parts = key
    if not isinstance(kind, bool):
        return parts[0]
    values = map(_value, parts)
    return list(values) if kind else tuple(values)


_Strides = tuple[int, ...]


@lru_cache(maxsize=10_000)
def _strides_of(overload: OpOverload, args: Any, kwargs: Any) -> Sequence[_Strides | None]:
    """The strides of the parts of what an operator gives; None for one that is no dense tensor. The layers of a model ask the same."""
    try:
        with fakes_of_their_own():
            theirs = pytree.tree_leaves(overload(*_value(args), **dict(_value(kwargs))))
    except Exception:  # no fake kernel: nobody has viewed by its strides
        return ()
    return [tuple(t.stride()) if isinstance(t, torch.Tensor) and t.layout is torch.strided else None for t in theirs]


def _other_order(ours: Any, want: _Strides | None) -> list[int] | None:
    """The order of `want` where `ours` lies otherwise and the order is all that `want` says: it is dense."""
    if not isinstance(ours, torch.Tensor) or want is None or ours.layout is not torch.strided:
        return None
    shape, have = ([concrete(s) for s in facts] for facts in (ours.shape, ours.stride()))
    if len(want) != len(shape) or min(shape, default=0) < 1 or _same(shape, have, want):
        return None
    order = sorted(range(len(shape)), key=lambda d: (-want[d], d))
    return order if _same(shape, want, dense_strides(shape, order)) else None


def _same(shape: Sequence[int], a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether strides are the same where there is more than one element."""
    return all(x == y for n, x, y in zip(shape, a, b, strict=True) if n > 1)


def _ordered(value: Any, order: Sequence[int] | None) -> Any:
    if order is None:
        return value
    dense = aten.clone(aten.permute(value, order), memory_format=torch.contiguous_format)
    return aten.permute(dense, [list(order).index(d) for d in range(len(order))])
