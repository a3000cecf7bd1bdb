"""Reductions of segments of one dimension, given by lengths or by offsets."""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("segments")
aten = torch.ops.aten

_KIND = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}
_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def _offsets(lengths: torch.Tensor | None, offsets: torch.Tensor | None) -> torch.Tensor:
    if lengths is None:
        assert offsets is not None, "segments need lengths or offsets"
        return aten._to_copy(offsets, dtype=torch.int64)
    return aten.constant_pad_nd(aten.cumsum(aten._to_copy(lengths, dtype=torch.int64), -1), [1, 0])


class _Segments:
    """Which segment every element of `data` along `axis` belongs to; what belongs to none goes to one behind the last."""

    def __init__(
        self, data: torch.Tensor, lengths: torch.Tensor | None, offsets: torch.Tensor | None, axis: int
    ) -> None:
        bounds = _offsets(lengths, offsets)
        self.data, self.axis, self.count = data, axis % data.dim(), bounds.shape[-1] - 1
        self.lengths = self._aligned(aten.slice(bounds, -1, 1, None) - aten.slice(bounds, -1, 0, -1))
        place = aten.expand(aten.arange(data.shape[self.axis], device=data.device), data.shape[: self.axis + 1])
        place = aten.clone(place, memory_format=torch.contiguous_format)
        found = aten.searchsorted.Tensor(bounds, place, right=True) - 1
        self.ids = aten.expand(self._aligned(torch.where(found < 0, self.count, found)), data.shape)

    def _aligned(self, per_row: torch.Tensor) -> torch.Tensor:
        """[..., n] with ones for the dimensions of `data` behind the axis."""
        return aten.view(aten.clone(per_row), [*per_row.shape, *([1] * (self.data.dim() - self.axis - 1))])

    def reduce(self, values: torch.Tensor, kind: str, start: float) -> torch.Tensor:
        """Values in the shape of `data`, combined by segment from `start` on."""
        shape = [*values.shape]
        shape[self.axis] = self.count + 1
        begin = aten.full.default(shape, start, dtype=values.dtype, device=values.device)
        every = aten.scatter_reduce.two(begin, self.axis, self.ids, values, kind)
        return aten.slice(every, self.axis, 0, self.count)

    def spread(self, per_segment: torch.Tensor) -> torch.Tensor:
        """The value of its segment for every element of `data`, 0 where there is none."""
        padding = [0, 0] * (self.data.dim() - self.axis - 1) + [0, 1]
        return aten.gather(aten.constant_pad_nd(per_segment, padding), self.axis, self.ids)


@TABLE.register("aten::segment_reduce")
def segment_reduce(
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> torch.Tensor:
    """segment_reduce(Tensor data, str reduce, *, Tensor? lengths, Tensor? indices, Tensor? offsets, int axis, bool unsafe, Scalar? initial)"""
    if indices is not None or data.dim() == 0:
        return NotImplemented
    segments = _Segments(data, lengths, offsets, axis)
    start = _NEUTRAL[reduce] if initial is None else float(initial)
    result = segments.reduce(aten._to_copy(data, dtype=accumulation_dtype(data.dtype)), _KIND[reduce], start)
    if reduce == "mean":
        empty = segments.lengths == 0
        divided = result / torch.where(empty, 1, segments.lengths)
        result = torch.where(empty, math.nan if initial is None else start, divided)
    return aten._to_copy(result, dtype=data.dtype)


@TABLE.register("aten::_segment_reduce_backward")
def _segment_reduce_backward(
    grad: torch.Tensor,
    output: torch.Tensor,
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    initial: Any = None,
) -> torch.Tensor:
    """_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths, Tensor? offsets, int axis, Scalar? initial)

    Extrema share their gradient evenly. The derivative of a product is the product of the others: with one zero it is left to
    that element, with two there is none.
    """
    segments = _Segments(data, lengths, offsets, axis)
    wide = accumulation_dtype(data.dtype)
    grad, output, values = (aten._to_copy(t, dtype=wide) for t in (grad, output, data))
    if reduce == "sum":
        result = segments.spread(grad)
    elif reduce == "mean":
        result = segments.spread(grad / torch.where(segments.lengths == 0, 1, segments.lengths))
    elif reduce in ("max", "min"):
        best = segments.spread(output)
        chosen = aten._to_copy((values == best) | (values != values), dtype=wide)
        ties = segments.reduce(chosen, "sum", 0.0)
        result = segments.spread(grad / torch.clamp(ties, min=1)) * chosen
    else:
        zero = values == 0
        zeros = segments.spread(segments.reduce(aten._to_copy(zero, dtype=wide), "sum", 0.0))
        others = segments.spread(
            segments.reduce(torch.where(zero, 1, values), "prod", 1.0 if initial is None else float(initial))
        )
        lone = torch.where(zero & (zeros == 1), others, 0.0)
        result = segments.spread(grad) * torch.where(zeros == 0, others / torch.where(zero, 1, values), lone)
    return aten._to_copy(result, dtype=data.dtype)
