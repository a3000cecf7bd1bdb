"""What a decomposition gives lies in memory as what the operator gives: programs were traced with the operator's strides and view by them.

The operator's own fake kernel says what those are; Dynamo asked it too. Only the outermost decomposition is held to it, what it is made
of may lie as it likes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup.decompositions.memory_formats import dense_strides
from bringup.decompositions.registry import Decomposition
from bringup.torch_internals import OpOverload, concrete, is_fake, suppress_tracing

aten = torch.ops.aten

_READS_DATA = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class _Depth(threading.local):
    """Whether this thread is in a decomposition that will be laid out."""

    inside = False


_DEPTH = _Depth()


def laid_out(overload: OpOverload, fn: Decomposition) -> Decomposition:
    """`fn`, its results copied into the order of dimensions that `overload` gives them where they are in another."""
    if any(r.alias_info is not None for r in overload._schema.returns) or any(t in overload.tags for t in _READS_DATA):
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
    if not all(is_fake(t) for t in pytree.tree_leaves((args, kwargs, ours)) if isinstance(t, torch.Tensor)):
        return [None] * len(ours)
    try:
        with suppress_tracing():
            theirs = pytree.tree_leaves(overload(*args, **kwargs))
    except Exception:  # no fake kernel: nobody has viewed by its strides
        return [None] * len(ours)
    if len(ours) != len(theirs):
        return [None] * len(ours)
    return [_other_order(a, e) for a, e in zip(ours, theirs, strict=True)]


def _other_order(ours: Any, theirs: Any) -> list[int] | None:
    """The order of `theirs` where `ours` lies otherwise and the order is all that `theirs` says: it is dense."""
    if not isinstance(ours, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        return None
    if ours.layout is not torch.strided or theirs.layout is not torch.strided or ours.dim() != theirs.dim():
        return None
    shape = [concrete(s) for s in ours.shape]
    have, want = ([concrete(s) for s in t.stride()] for t in (ours, theirs))
    if min(shape, default=0) < 1 or _same(shape, have, want):
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
