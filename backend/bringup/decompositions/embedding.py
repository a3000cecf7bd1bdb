"""Embeddings, and bags of embeddings: the sum, mean or maximum of the rows that belong to a bag.

Element i of the indices belongs to the last bag whose offset is at most i.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("embedding")
aten = torch.ops.aten

_SUM, _MEAN, _MAX = 0, 1, 2


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.float32) if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _zeros(like: torch.Tensor, size: list[Any], dtype: torch.dtype | None = None) -> torch.Tensor:
    return aten.full(size, 0, dtype=dtype or like.dtype, device=like.device)


def _bag_of(offsets: torch.Tensor, count: Any) -> torch.Tensor:
    """For each of `count` indices the bag that it belongs to: the offsets up to it, counted."""
    starts = aten.index_put(
        _zeros(offsets, [count + 1], torch.int64),
        [offsets.to(torch.int64)],
        aten.ones_like(offsets, dtype=torch.int64),
        True,
    )
    return aten.slice(aten.cumsum(starts, 0) - 1, 0, 0, count)


def _column(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return aten.unsqueeze(values, -1).to(like.dtype)


@TABLE.register("aten::embedding_dense_backward")
def embedding_dense_backward(
    grad_output: torch.Tensor, indices: torch.Tensor, num_weights: Any, padding_idx: Any, scale_grad_by_freq: bool
) -> torch.Tensor:
    """embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor"""
    flat = aten.reshape(indices, [-1]).to(torch.int64)
    rows = aten.reshape(_wide(grad_output), [flat.shape[0], grad_output.shape[-1]])
    return _into_weight(rows, flat, num_weights, padding_idx, scale_grad_by_freq).to(grad_output.dtype)


def _into_weight(
    rows: torch.Tensor, indices: torch.Tensor, num_weights: Any, padding_idx: Any, by_frequency: bool
) -> torch.Tensor:
    """Add row i to row `indices[i]` of zeros; padding gets nothing."""
    if by_frequency:
        counts = aten.index_put(_zeros(indices, [num_weights]), [indices], aten.ones_like(indices), True)
        rows = rows / _column(aten.index(counts, [indices]), rows)
    if padding_idx >= 0:
        rows = aten.where(aten.unsqueeze(indices == padding_idx, -1), 0.0, rows)
    return aten.index_put(_zeros(rows, [num_weights, rows.shape[-1]]), [indices], rows, True)


@TABLE.register("aten::embedding_renorm")
def embedding_renorm(self: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor

    The rows that `indices` names are scaled down to `max_norm`; the 1e-7 is eager's.
    """
    flat = aten.reshape(indices, [-1])
    rows = aten.index(self, [flat])
    norms = aten.linalg_vector_norm(_wide(rows), norm_type, [1], True)
    scaled = (rows * (max_norm / (norms + 1e-7))).to(self.dtype)
    return aten.index_put(self, [flat], aten.where(norms > max_norm, scaled, rows))


def _forward(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    mode: int,
    sample_weights: torch.Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
    sizes_per_offset: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Output, bag of every index, bag sizes, indices of the maxima. What nobody reads of the last three, eager leaves empty or zero."""
    count, bags = indices.shape[0], offsets.shape[0] - (1 if include_last_offset else 0)
    place, bag = indices.to(torch.int64), _bag_of(aten.slice(offsets, 0, 0, bags), indices.shape[0])
    rows = aten.index(weight, [place])
    kept = aten.ne(place, padding_idx)
    sizes = aten.index_put(_zeros(offsets, [bags]), [bag], kept.to(offsets.dtype), True)
    if mode == _MAX:
        output, maxima = _maximum(rows, weight, place, bag, kept, sizes)
    else:
        wide = _wide(rows)
        if sample_weights is not None:
            wide = wide * _column(sample_weights, wide)
        if padding_idx >= 0:
            wide = aten.where(aten.unsqueeze(kept, -1), wide, 0.0)
        output = aten.index_put(_zeros(wide, [bags, weight.shape[1]]), [bag], wide, True)
        if mode == _MEAN:
            output = output / _column(aten.clamp(sizes, 1), output)
        output, maxima = output.to(weight.dtype), sizes
    return (
        output,
        *_bookkeeping(weight, offsets, mode, sample_weights, padding_idx, sizes_per_offset, bag, sizes, maxima, count),
    )


def _maximum(
    rows: torch.Tensor,
    weight: torch.Tensor,
    place: torch.Tensor,
    bag: torch.Tensor,
    kept: torch.Tensor,
    sizes: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The maximum of every bag and column, and which row of the weight holds it: the first that does."""
    count, width, bags = place.shape[0], weight.shape[1], sizes.shape[0]
    low = aten.full([bags, width], -math.inf, dtype=weight.dtype, device=weight.device)
    if count == 0:
        return aten.zeros_like(low), _zeros(sizes, [bags, width])
    spread = aten.expand(aten.unsqueeze(bag, -1), [count, width])
    present = aten.where(aten.unsqueeze(kept, -1), rows, -math.inf)
    top = aten.scatter_reduce(low, 0, spread, present, "amax")
    holds = aten.logical_and(aten.eq(present, aten.gather(top, 0, spread)), aten.unsqueeze(kept, -1))
    position = aten.where(holds, aten.unsqueeze(aten.arange(count, device=weight.device), -1), count - 1)
    first = aten.scatter_reduce(
        aten.full([bags, width], count - 1, dtype=torch.int64, device=weight.device), 0, spread, position, "amin"
    )
    filled = aten.unsqueeze(aten.gt(sizes, 0), -1)
    maxima = aten.where(filled, aten.index(place, [first]), 0)
    return aten.where(filled, aten.gather(weight, 0, maxima), 0.0), maxima.to(sizes.dtype)


def _bookkeeping(
    weight: torch.Tensor,
    offsets: torch.Tensor,
    mode: int,
    sample_weights: torch.Tensor | None,
    padding_idx: int,
    sizes_per_offset: bool,
    bag: torch.Tensor,
    sizes: torch.Tensor,
    maxima: torch.Tensor,
    count: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    bag = bag.to(offsets.dtype)
    on_cpu = weight.device.type == "cpu"
    short = offsets.shape[0] - sizes.shape[0]  # 1 with the last offset included
    if mode == _SUM:
        sizes = aten.zeros_like(sizes)
    if short and (sizes_per_offset or not on_cpu):
        sizes = aten.constant_pad_nd(sizes, [0, short])
    if not on_cpu:
        return bag, sizes, maxima if mode == _MAX else _zeros(offsets, [0])
    by_library = weight.dtype in (torch.float32, torch.float16) and weight.stride(1) == 1 and padding_idx < 0
    if mode == _SUM and by_library and (sample_weights is None or sample_weights.stride(0) == 1):
        bag = _zeros(offsets, [0])
    return bag, sizes, maxima if mode == _MAX else aten.clone(sizes)


@TABLE.register("aten::_embedding_bag")
def _embedding_bag(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, ...) -> (Tensor, Tensor, Tensor, Tensor)"""
    return _forward(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, False)


@TABLE.register("aten::_embedding_bag_forward_only")
def _embedding_bag_forward_only(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, ...) -> (Tensor, Tensor, Tensor, Tensor)"""
    return _forward(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, True)


@TABLE.register("aten::_embedding_bag_backward")
def _embedding_bag_backward(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: Any,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> Any:
    """_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, ...) -> Tensor"""
    if sparse:
        return NotImplemented
    return _dense(
        grad, indices, _bag_of(offsets, indices.shape[0]), bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


@TABLE.register("aten::_embedding_bag_dense_backward")
def _dense(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: Any,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> torch.Tensor:
    """_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, ...) -> Tensor"""
    wide = _wide(grad)
    sizes = aten.slice(bag_size, 0, 0, grad.shape[0])
    if mode == _MAX:
        filled = aten.where(aten.unsqueeze(aten.gt(sizes, 0), -1), wide, 0.0)
        zeros = _zeros(wide, [num_weights, grad.shape[1]])
        return aten.scatter_add(zeros, 0, maximum_indices.to(torch.int64), filled).to(grad.dtype)
    bag, place = offset2bag.to(torch.int64), indices.to(torch.int64)
    if mode == _MEAN:
        wide = wide / _column(aten.clamp(sizes, 1), wide)
    rows = aten.index(wide, [bag])
    if per_sample_weights is not None:
        rows = rows * _column(per_sample_weights, rows)
    return _into_weight(rows, place, num_weights, padding_idx, scale_grad_by_freq).to(grad.dtype)


@TABLE.register("aten::_embedding_bag_per_sample_weights_backward")
def _embedding_bag_per_sample_weights_backward(
    grad: torch.Tensor,
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    mode: int,
    padding_idx: int = -1,
) -> torch.Tensor:
    """_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, ...) -> Tensor"""
    place = indices.to(torch.int64)
    rows = aten.index(_wide(grad), [_bag_of(offsets, indices.shape[0])])
    products = aten.sum.dim_IntList(rows * aten.index(_wide(weight), [place]), [1])
    if padding_idx >= 0:
        products = aten.where(aten.eq(place, padding_idx), 0.0, products)
    return products.to(grad.dtype)
