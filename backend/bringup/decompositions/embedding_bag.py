"""Bags of embeddings: the sum, mean or maximum of the rows that belong to a bag.

Element i of the indices belongs to the last bag whose offset is at most i.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.embedding import column, zeros
from bringup.decompositions.half_precision import widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("embedding_bag")
aten = torch.ops.aten

SUM, MEAN, MAX = 0, 1, 2


def bag_of(offsets: torch.Tensor, count: Any) -> torch.Tensor:
    """For each of `count` indices the bag that it belongs to: the offsets up to it, counted."""
    starts = aten.index_put(
        zeros(offsets, [count + 1], torch.int64),
        [offsets.to(torch.int64)],
        aten.ones_like(offsets, dtype=torch.int64),
        True,
    )
    return aten.slice(aten.cumsum(starts, 0) - 1, 0, 0, count)


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
    place, bag = indices.to(torch.int64), bag_of(aten.slice(offsets, 0, 0, bags), indices.shape[0])
    rows = aten.index(weight, [place])
    kept = aten.ne(place, padding_idx)
    sizes = aten.index_put(zeros(offsets, [bags]), [bag], kept.to(offsets.dtype), True)
    if mode == MAX:
        output, maxima = _maximum(rows, weight, place, bag, kept, sizes)
    else:
        wide = widened(rows)
        if sample_weights is not None:
            wide = wide * column(sample_weights, wide)
        if padding_idx >= 0:
            wide = aten.where(aten.unsqueeze(kept, -1), wide, 0.0)
        output = aten.index_put(zeros(wide, [bags, weight.shape[1]]), [bag], wide, True)
        if mode == MEAN:
            output = output / column(aten.clamp(sizes, 1), output)
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
    low = aten.full.default([bags, width], -math.inf, dtype=weight.dtype, device=weight.device)
    if count == 0:
        return aten.zeros_like(low), zeros(sizes, [bags, width])
    spread = aten.expand(aten.unsqueeze(bag, -1), [count, width])
    present = aten.where(aten.unsqueeze(kept, -1), rows, -math.inf)
    top = aten.scatter_reduce(low, 0, spread, present, "amax")
    holds = aten.logical_and(aten.eq(present, aten.gather(top, 0, spread)), aten.unsqueeze(kept, -1))
    position = aten.where(holds, aten.unsqueeze(aten.arange(count, device=weight.device), -1), count - 1)
    first = aten.scatter_reduce(
        aten.full.default([bags, width], count - 1, dtype=torch.int64, device=weight.device),
        0,
        spread,
        position,
        "amin",
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
    if mode == SUM:
        sizes = aten.zeros_like(sizes)
    if short and (sizes_per_offset or not on_cpu):
        sizes = aten.constant_pad_nd(sizes, [0, short])
    if not on_cpu:
        return bag, sizes, maxima if mode == MAX else zeros(offsets, [0])
    by_library = weight.dtype in (torch.float32, torch.float16) and weight.stride(1) == 1 and padding_idx < 0
    if mode == SUM and by_library and (sample_weights is None or sample_weights.stride(0) == 1):
        bag = zeros(offsets, [0])
    return bag, sizes, maxima if mode == MAX else aten.clone(sizes)


def _add(name: str, sizes_per_offset: bool) -> None:
    @TABLE.register(f"aten::{name}")
    def embedding_bag(
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
        return _forward(
            weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, sizes_per_offset
        )


_add("_embedding_bag", sizes_per_offset=False)
_add("_embedding_bag_forward_only", sizes_per_offset=True)
