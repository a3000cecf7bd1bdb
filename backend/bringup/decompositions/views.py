"""Views, copies and aliases."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.memory_formats import physical_order
from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import is_fake

TABLE = Decompositions("views")
aten = torch.ops.aten


def inverse(order: Sequence[int]) -> list[int]:
    """The permutation that undoes `order`."""
    return [list(order).index(d) for d in range(len(order))]


@TABLE.register("aten::alias")
def alias(self: torch.Tensor) -> torch.Tensor:
    """alias(Tensor(a) self) -> Tensor(a)"""
    return aten.view(self, self.shape)


@TABLE.register("aten::lift_fresh", "aten::lift")
def lift_fresh(self: torch.Tensor) -> torch.Tensor:
    """lift_fresh(Tensor(a) self) -> Tensor(a)

    A real tensor is a constant on its way into the graph; see `lift_fresh_copy`.
    """
    return aten.view(self, self.shape) if is_fake(self) else NotImplemented


@TABLE.register("aten::lift_fresh_copy")
def lift_fresh_copy(self: torch.Tensor) -> torch.Tensor:
    """lift_fresh_copy(Tensor self) -> Tensor

    Applies to fake tensors; a real one is a constant that tracing turns into a fake one by this very operator, and
    the pass `LowerLifts` rewrites what is left.
    """
    return aten.clone(self) if is_fake(self) else NotImplemented


@TABLE.register("aten::_unsafe_view", "aten::_reshape_alias")
def _unsafe_view(self: torch.Tensor, size: Any, *_: Any) -> torch.Tensor:
    """_unsafe_view(Tensor self, SymInt[] size) -> Tensor"""
    return aten.view(self, size)


@TABLE.register("aten::_lazy_clone")
def _lazy_clone(self: torch.Tensor) -> torch.Tensor:
    """_lazy_clone(Tensor self) -> Tensor"""
    return aten.clone(self)


@TABLE.register("aten::_reshape_copy", "aten::_reshape_alias_copy", "aten::view_copy")
def _reshape_copy(self: torch.Tensor, size: Sequence[Any], *_: Any) -> torch.Tensor:
    """_reshape_copy(Tensor self, SymInt[] size) -> Tensor"""
    return aten.view(aten.clone(self, memory_format=torch.contiguous_format), size)


@TABLE.register("aten::_stack")
def _stack(tensors: Sequence[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """_stack(Tensor[] tensors, int dim=0) -> Tensor"""
    return aten.stack(tensors, dim)


@TABLE.register("aten::resize")
def resize(
    self: torch.Tensor, size: Sequence[Any], *, memory_format: torch.memory_format | None = None
) -> torch.Tensor:
    """resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor

    The elements keep their place in memory; what is new is uninitialised in eager and zero here.
    """
    if memory_format not in (None, torch.contiguous_format):
        return NotImplemented
    flat = aten.reshape(aten.permute(self, physical_order(self, None)), [-1])
    wanted, present = math.prod(size), flat.shape[0]
    kept = aten.slice(flat, 0, 0, wanted) if wanted <= present else aten.constant_pad_nd(flat, [0, wanted - present])
    return aten.view(aten.clone(kept), size)


@TABLE.register("aten::repeat")
def repeat(self: torch.Tensor, repeats: Sequence[Any]) -> torch.Tensor:
    """repeat(Tensor self, SymInt[] repeats) -> Tensor

    Every dimension gets one of repetitions in front, expanded; a copy in rows joins the two, which is how eager's result lies in memory
    whatever `self` does. PyTorch's own entry follows the strides of `self`, and a view traced with eager's strides does not fit.
    """
    new = len(repeats) - self.dim()
    if new < 0:
        return NotImplemented
    shape = [1] * new + list(self.shape)
    spread = aten.expand(
        aten.reshape(self, [n for size in shape for n in (1, size)]),
        [n for pair in zip(repeats, shape, strict=True) for n in pair],
    )
    rows = aten.clone(spread, memory_format=torch.contiguous_format)
    return aten.view(rows, [times * size for times, size in zip(repeats, shape, strict=True)])


@TABLE.register("aten::roll")
def roll(self: torch.Tensor, shifts: Sequence[Any], dims: Sequence[int] = ()) -> torch.Tensor:
    """roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor

    Two slices change places, one dimension after the other; joining them keeps the memory order, as eager does.
    """
    if self.numel() == 0:
        return aten.clone(self)
    if not dims:
        return aten.view(roll(aten.reshape(self, [-1]), shifts, [0]), self.shape)
    if self.dim() == 0:
        return aten.clone(self)
    result = self
    for shift, dim in zip(shifts, dims, strict=True):
        start = -shift % self.shape[dim]
        result = aten.cat([aten.slice(result, dim, start), aten.slice(result, dim, 0, start)], dim)
    return result


@TABLE.register("aten::as_strided_scatter")
def as_strided_scatter(
    self: torch.Tensor, src: torch.Tensor, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any = None
) -> torch.Tensor:
    """as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor

    The memory of `self` as one row, in which the places that the strides name are overwritten. Where `self` has gaps, or the strides
    leave it, its elements are first spread over a row that is long enough, then read back from their places.
    """
    first, own_reach = self.storage_offset(), self.storage_offset() + _reach(self.shape, self.stride())
    start = first if storage_offset is None else storage_offset
    reach = start + _reach(size, stride)
    if self.numel() == 0 or math.prod(size) == 0:
        return _packed_like(self, self)
    new = aten.reshape(src, [-1])
    order = physical_order(self, None)
    dense = aten.permute(self, order)
    if dense.is_contiguous() and start >= first and reach < first + self.numel():
        row = aten.index_put(aten.view(dense, [-1]), [_places(size, stride, start - first, self.device)], new)
        return aten.permute(aten.view(row, dense.shape), inverse(order))
    base: Any = torch.sym_min(first, start)
    row = aten.full.default([torch.sym_max(own_reach, reach) - base + 1], 0, dtype=self.dtype, device=self.device)
    own = _places(self.shape, self.stride(), first - base, self.device)
    row = aten.index_put(row, [own], aten.reshape(self, [-1]))
    row = aten.index_put(row, [_places(size, stride, start - base, self.device)], new)
    return _packed_like(aten.view(aten.index(row, [own]), self.shape), self)


def _reach(size: Sequence[Any], stride: Sequence[Any]) -> Any:
    """How far in memory the last element lies behind the first."""
    return sum((n - 1) * step for n, step in zip(size, stride, strict=True))


def _places(size: Sequence[Any], stride: Sequence[Any], start: Any, device: torch.device) -> torch.Tensor:
    """The place in memory of every element, in the order of the dimensions, as one row."""
    place = aten.full.default([], start, dtype=torch.int64, device=device)
    for n, step in zip(size, stride, strict=True):
        place = aten.unsqueeze(place, -1) + aten.arange(n, device=device) * step
    return aten.reshape(place, [-1])


def _packed_like(value: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """A copy of `value` in the memory order of `self`."""
    order = physical_order(self, None)
    if order == sorted(order):
        return aten.clone(value, memory_format=torch.contiguous_format)
    return aten.permute(aten.clone(aten.permute(value, order), memory_format=torch.contiguous_format), inverse(order))


@TABLE.register("aten::slice_scatter")
def slice_scatter(
    self: torch.Tensor, src: torch.Tensor, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> torch.Tensor:
    """slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor

    Where the sizes are known, pieces are joined or places overwritten; else every element of the dimension tells by its position whether,
    and where, it reads `src`.
    """
    dim = dim % self.dim()
    n, length = self.shape[dim], src.shape[dim]
    if src.dtype != self.dtype:
        src = aten._to_copy(src, dtype=self.dtype)
    if any(isinstance(v, torch.SymInt) for v in (n, length, start, end, step)):
        return _packed_like(_sliced_by_position(self, src, dim, start, end, step), self)
    start, end, step = slice(start, end, step).indices(n)
    src = aten.expand(src, [*self.shape[:dim], length, *self.shape[dim + 1 :]])
    if length == 0:
        return _packed_like(self, self)
    if step == 1:
        pieces = [aten.slice(self, dim, 0, start), src, aten.slice(self, dim, end, n)]
        return _packed_like(aten.cat([p for p in pieces if p.shape[dim]], dim), self)
    place = aten.arange.start_step(start, end, step, device=self.device)
    return _packed_like(aten.index_put(self, [None] * dim + [place], src), self)


def _sliced_by_position(
    self: torch.Tensor, src: torch.Tensor, dim: int, start: Any, end: Any, step: Any
) -> torch.Tensor:
    n, length = self.shape[dim], src.shape[dim]
    first = 0 if start is None else start
    if first < 0:
        first = torch.sym_max(first + n, 0)
    last = n if end is None or (type(end) is int and end >= sys.maxsize) else end
    if last < 0:
        last = last + n
    ahead = aten.arange(n, device=self.device) - first
    inside = aten.bitwise_and(aten.bitwise_and(ahead >= 0, ahead < last - first), aten.remainder(ahead, step) == 0)
    place = aten.clamp(aten.div(ahead, step, rounding_mode="floor"), 0, torch.sym_max(length - 1, 0))
    # one more row at the end, so that an empty source has something to read
    longer = aten.constant_pad_nd(src, [0, 0] * (self.dim() - 1 - dim) + [0, 1])
    taken = aten.index(longer, [None] * dim + [place])
    return aten.where(aten.view(inside, [-1] + [1] * (self.dim() - 1 - dim)), taken, self)


@TABLE.register("aten::channel_shuffle", "aten::native_channel_shuffle")
def channel_shuffle(self: torch.Tensor, groups: Any) -> torch.Tensor:
    """channel_shuffle(Tensor self, SymInt groups) -> Tensor

    The groups and their members change places.
    """
    batch, channels, *rest = self.shape
    grouped = aten.reshape(self, [batch, groups, channels // groups, *rest])
    shuffled = aten.reshape(aten.transpose(grouped, 1, 2), self.shape)
    channels_last = (
        self.dim() == 4 and self.is_contiguous(memory_format=torch.channels_last) and not self.is_contiguous()
    )
    return (
        _packed_like(shuffled, self) if channels_last else aten.clone(shuffled, memory_format=torch.contiguous_format)
    )
