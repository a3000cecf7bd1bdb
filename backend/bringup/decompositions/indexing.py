"""Masks, flat positions, and scattering with numbers or a reduction.

The k-th true element of a mask is found by counting: the running sum of the mask, less one, is k there. What must not be written goes to a
place of its own behind the last one, which is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.memory_formats import physical_order
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("indexing")
aten = torch.ops.aten

_SCATTER_REDUCTIONS = {"add": "sum", "multiply": "prod"}


def _like_self(value: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """`value`, just made and contiguous, in the memory order of `self`."""
    order = physical_order(self, None)
    if order == sorted(order):
        return value
    dense = aten.clone(aten.permute(value, order), memory_format=torch.contiguous_format)
    return aten.permute(dense, [order.index(d) for d in range(len(order))])


def _rank(mask: torch.Tensor) -> torch.Tensor:
    """How many true elements a flat mask has before each of its true ones; int64."""
    return aten.cumsum(mask, 0, dtype=torch.int64) - 1


@TABLE.register("aten::masked_scatter")
def masked_scatter(self: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"""
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    self, mask = aten.expand(self, shape), aten.expand(mask, shape)
    if source.numel() == 0 or math.prod(shape) == 0:
        return aten.clone(self, memory_format=torch.contiguous_format)
    flat = aten.reshape(mask, [-1])
    place = aten.clamp(_rank(flat), 0, source.numel() - 1)
    values = aten.view(aten.index(aten.reshape(source, [-1]), [place]), shape)
    return aten.clone(aten.where(mask, values, self), memory_format=torch.contiguous_format)


@TABLE.register("aten::masked_scatter_backward")
def masked_scatter_backward(grad_output: torch.Tensor, mask: torch.Tensor, sizes: Sequence[Any]) -> torch.Tensor:
    """masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor

    The gradient at the k-th true element is that of source element k; the rest of source was not read.
    """
    numel = math.prod(sizes)
    flat = aten.reshape(aten.expand(mask, grad_output.shape), [-1])
    place = aten.where(flat, _rank(flat), numel)
    row = aten.full.default([numel + 1], 0, dtype=grad_output.dtype, device=grad_output.device)
    row = aten.scatter(row, 0, place, aten.reshape(grad_output, [-1]))
    return aten.view(aten.slice(row, 0, 0, numel), sizes)


@TABLE.register("aten::masked_select")
def masked_select(self: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """masked_select(Tensor self, Tensor mask) -> Tensor"""
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    flat = aten.reshape(aten.expand(self, shape), [-1])
    places = aten.nonzero(aten.reshape(aten.expand(mask, shape), [-1]))
    return aten.index(flat, [aten.squeeze(places, 1)])


@TABLE.register("aten::nonzero_static")
def nonzero_static(self: torch.Tensor, *, size: Any, fill_value: int = -1) -> torch.Tensor:
    """nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor

    The flat positions of the first `size` nonzero elements, then their coordinates from the last dimension on.
    """
    if self.dim() == 0:
        return aten.full.default([size, 0], fill_value, dtype=torch.int64, device=self.device)
    flat = aten.reshape(aten.ne(self, 0), [-1])
    rank = _rank(flat)
    wanted = aten.bitwise_and(flat, rank < size)
    place = aten.where(wanted, rank, size)
    row = aten.full.default([size + 1], -1, dtype=torch.int64, device=self.device)
    position = aten.slice(aten.scatter(row, 0, place, aten.arange(flat.shape[0], device=self.device)), 0, 0, size)
    found, rest, columns = position >= 0, position, []
    for n in reversed(self.shape):
        n = 1 if type(n) is int and n == 0 else n
        columns.append(aten.where(found, aten.remainder(rest, n), fill_value))
        rest = aten.div(rest, n, rounding_mode="floor")
    return aten.stack(columns[::-1], 1)


@TABLE.register("aten::index_select")
def index_select(self: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """index_select(Tensor self, int dim, Tensor index) -> Tensor

    Contiguous, whatever the memory order of `self`.
    """
    if self.dim() == 0:
        return aten.view(aten.index(aten.view(self, [1]), [aten.reshape(index, [-1])]), [])
    chosen = aten.index(self, [None] * (dim % self.dim()) + [aten.reshape(index, [-1])])
    return chosen if self.is_contiguous() else aten.clone(chosen, memory_format=torch.contiguous_format)


@TABLE.register("aten::take")
def take(self: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """take(Tensor self, Tensor index) -> Tensor"""
    return aten.index(aten.reshape(self, [-1]), [index])


@TABLE.register("aten::put")
def put(self: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor

    Positions count the elements of `self` in the order of its dimensions, whatever its order in memory.
    """
    flat = aten.reshape(self, [-1])
    new = aten.index_put(flat, [aten.reshape(index, [-1])], aten.reshape(source, [-1]), accumulate)
    return _like_self(aten.view(new, self.shape), self)


@TABLE.register("aten::_index_put_impl")
def _index_put_impl(
    self: torch.Tensor, indices: Sequence[Any], values: torch.Tensor, accumulate: bool = False, unsafe: bool = False
) -> torch.Tensor:
    """_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor"""
    return aten.index_put(self, indices, values, accumulate)


@TABLE.register("aten::repeat_interleave.Tensor")
def repeat_interleave(repeats: torch.Tensor, *, output_size: Any = None) -> torch.Tensor:
    """repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor

    Element j of the result is the first i whose running sum of repeats is above j.
    """
    if output_size is None:
        return NotImplemented
    if type(output_size) is int and output_size == 0:
        return aten.full.default([0], 0, dtype=repeats.dtype, device=repeats.device)
    ends = aten.cumsum(repeats, 0, dtype=torch.int64)
    index = aten.searchsorted(ends, aten.arange(output_size, device=repeats.device), right=True)
    return index if repeats.dtype is torch.int64 else aten._to_copy(index, dtype=repeats.dtype)


def _filled_like_index(self: torch.Tensor, index: torch.Tensor, value: Any) -> torch.Tensor:
    return aten.expand(aten.full.default([], value, dtype=self.dtype, device=self.device), index.shape)


@TABLE.register("aten::scatter.value")
def scatter_value(self: torch.Tensor, dim: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"""
    return aten.scatter.src(self, dim, index, _filled_like_index(self, index, value))


@TABLE.register("aten::scatter.reduce")
def scatter_with_reduction(
    self: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor, *, reduce: str
) -> torch.Tensor:
    """scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor"""
    if reduce == "add":
        return aten.scatter_add(self, dim, index, src)
    return aten.scatter_reduce.two(self, dim, index, src, _SCATTER_REDUCTIONS[reduce])


@TABLE.register("aten::scatter.value_reduce")
def scatter_value_with_reduction(
    self: torch.Tensor, dim: int, index: torch.Tensor, value: Any, *, reduce: str
) -> torch.Tensor:
    """scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor"""
    return scatter_with_reduction(self, dim, index, _filled_like_index(self, index, value), reduce=reduce)


@TABLE.register("aten::index_reduce")
def index_reduce(
    self: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str, *, include_self: bool = True
) -> torch.Tensor:
    """index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor"""
    if self.dim() == 0:
        row = index_reduce(
            aten.view(self, [1]),
            0,
            aten.reshape(index, [-1]),
            aten.reshape(source, [-1]),
            reduce,
            include_self=include_self,
        )
        return aten.view(row, [])
    dim = dim % self.dim()
    shape = [1] * source.dim()
    shape[dim] = index.numel()
    spread = aten.expand(aten.view(aten.reshape(index, [-1]), shape), source.shape)
    return aten.scatter_reduce.two(
        self, dim, aten._to_copy(spread, dtype=torch.int64), source, reduce, include_self=include_self
    )
