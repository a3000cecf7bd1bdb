"""Grouped products: the rows of a matrix are in groups, one after the other, and each group has a matrix of its own (mixture of experts).

How many rows a group has is data, so no shape may depend on it. The rows are laid out in blocks of one size, every group
beginning a new block (as Gale et al., MegaBlocks, 2022, tile it); a batched product then multiplies each block with the
matrix of its group. With S rows in G groups and blocks of B = ceil(S / G) rows there are at most 2 G blocks however the rows
are spread, so it costs at most about twice the multiplications that are needed, and two copies of the matrices in memory. A product of
all rows with every matrix would cost G times as many; one matrix gathered for each row, S copies.

Rows of other groups never meet, so a NaN or an infinity stays in its group. Rows behind the last group give zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype, widened
from bringup.decompositions.memory_formats import dense_strides, physical_order
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.views import inverse

TABLE = Decompositions("grouped products")
aten = torch.ops.aten


@dataclass(frozen=True)
class _Blocks:
    """Where the rows of the groups are in the blocks.

    Attributes:
        rows: the row in each place, [blocks, B], int64; a place that holds none names row 0.
        holds: whether the place holds a row, [blocks, B].
        groups: the group of each block, [blocks].
        block: the block of each row, [S].
        place: the row's place in its block, [S].
        grouped: whether the row belongs to any group, [S].
    """

    rows: torch.Tensor
    holds: torch.Tensor
    groups: torch.Tensor
    block: torch.Tensor
    place: torch.Tensor
    grouped: torch.Tensor


def _blocks(ends: torch.Tensor, rows: Any) -> _Blocks:
    """The blocks of `rows` rows whose groups end where `ends` says, [G], never less than the one before."""
    count = ends.shape[0]
    size = (rows + count - 1) // count
    blocks = (rows + count * (size - 1)) // size
    ends = aten._to_copy(ends, dtype=torch.int64)
    starts = aten.constant_pad_nd(ends, [1, -1], 0)
    needed = aten.div(ends - starts + (size - 1), size, rounding_mode="floor")
    last = aten.cumsum(needed, 0)
    first = last - needed
    number = aten.arange(blocks, device=ends.device)
    groups = aten.clamp_max(aten.searchsorted(last, number, right=True), count - 1)
    begin = aten.index(starts, [groups]) + (number - aten.index(first, [groups])) * size
    held = aten.unsqueeze(begin, 1) + aten.arange(size, device=ends.device)
    holds = held < aten.unsqueeze(aten.index(ends, [groups]), 1)
    row = aten.arange(rows, device=ends.device)
    group = aten.clamp_max(aten.searchsorted(ends, row, right=True), count - 1)
    within = row - aten.index(starts, [group])
    grouped = row < aten.select(ends, 0, -1)
    block = aten.index(first, [group]) + aten.div(within, size, rounding_mode="floor")
    return _Blocks(
        rows=torch.where(holds, held, 0),
        holds=holds,
        groups=groups,
        block=torch.where(grouped, block, 0),
        place=aten.remainder(within, size),
        grouped=grouped,
    )


def _by_rows(input: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """[S, K] rows of group g times [G, K, N] matrix g: [S, N]."""
    if input.shape[0] == 0 or weight.shape[0] == 0:
        return aten.full.default([input.shape[0], weight.shape[2]], 0, dtype=input.dtype, device=input.device)
    at = _blocks(ends, input.shape[0])
    products = aten.bmm(aten.index(input, [at.rows]), aten.index(weight, [at.groups]))
    return torch.where(aten.unsqueeze(at.grouped, 1), aten.index(products, [at.block, at.place]), 0.0)


def _over_rows(a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """[S, K] transposed times [S, N], over the rows of each group: [G, K, N]; a group's blocks are added up unrounded."""
    shape = [ends.shape[0], a.shape[1], b.shape[1]]
    nothing = aten.full.default(shape, 0, dtype=accumulation_dtype(a.dtype), device=a.device)
    if a.shape[0] == 0 or ends.shape[0] == 0:
        return nothing.to(a.dtype)
    at = _blocks(ends, a.shape[0])
    holds = aten.unsqueeze(at.holds, 2)
    left, right = (torch.where(holds, aten.index(widened(t), [at.rows]), 0.0) for t in (a, b))
    return aten.index_put(nothing, [at.groups], aten.bmm(aten.transpose(left, 1, 2), right), True).to(a.dtype)


def _in_layout_of(result: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """`result` with the dimensions in the order in memory that those of `like` are in."""
    order = physical_order(like, None)
    if list(result.stride()) == dense_strides(result.shape, order):
        return result
    inner = aten.clone(aten.permute(result, order), memory_format=torch.contiguous_format)
    return aten.permute(inner, inverse(order))


def _aligned(result: torch.Tensor) -> torch.Tensor:
    """`result` with rows that begin at multiples of 16 bytes, as eager makes them for the vendors' kernels."""
    step = 16 // result.element_size()
    columns = result.shape[-1]
    padding = -columns % step
    return result if padding == 0 else aten.slice(aten.constant_pad_nd(result, [0, padding]), -1, 0, columns)


@TABLE.register("aten::_grouped_mm")
def _grouped_mm(
    self: torch.Tensor,
    mat2: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor

    The groups are of the dimension that the operands' ranks leave open: rows of `self`, columns of `mat2`, or the one summed over.
    """
    if bias is not None or out_dtype not in (None, self.dtype):  # eager refuses both
        return NotImplemented
    if offs is None:
        return _aligned(aten.bmm(self, mat2))
    if self.dim() == 2 and mat2.dim() == 3:
        return _aligned(_by_rows(self, mat2, offs))
    if self.dim() == 3 and mat2.dim() == 2:
        columns = _by_rows(aten.t(mat2), aten.transpose(self, 1, 2), offs)
        return _aligned(aten.clone(aten.t(columns), memory_format=torch.contiguous_format))
    return _aligned(_over_rows(aten.t(self), mat2, offs))


@TABLE.register_later("transformers::grouped_mm_fallback")
def grouped_mm_fallback(input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    """transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor"""
    return _by_rows(input, weight, offs)


@TABLE.register_later("transformers::grouped_mm_fallback_backward")
def grouped_mm_fallback_backward(
    input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor, grad_output: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """transformers::grouped_mm_fallback_backward(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) -> (Tensor, Tensor)

    Y = X W in each group, so dX = dY W^T and dW = X^T dY.
    """
    by_input = _by_rows(grad_output, aten.transpose(weight, 1, 2), offs)
    return _in_layout_of(by_input, input), _in_layout_of(_over_rows(input, grad_output, offs), weight)
