"""Pooling: maxima and averages of windows, sliding, adaptive and fractional.

A maximum's index is eager's: the first of equal elements, the last NaN, counted over the pooled dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import (
    UNROLLED,
    Axis,
    Ranges,
    adaptive_ranges,
    along,
    gathered,
    sliding_axes,
    sliding_ranges,
    sum_ranges,
    take,
)

TABLE = Decompositions("pooling")
aten = torch.ops.aten

Picked = tuple[torch.Tensor, torch.Tensor]
_HALF = (torch.float16, torch.bfloat16)


def channels_last(self: torch.Tensor) -> torch.memory_format | None:
    """The format with channels innermost that the strides of an image or volume batch follow, or None."""
    if self.dim() not in (4, 5) or self.stride(1) == 0:
        return None
    step: Any = 0
    for dim in [1, *range(self.dim() - 1, 1, -1), 0]:
        if self.stride(dim) < step or self.shape[dim] == 0 or (dim == 0 and step == self.stride(1)):
            return None
        step = self.stride(dim) * max(self.shape[dim], 1) if self.shape[dim] > 1 else self.stride(dim)
    return torch.channels_last if self.dim() == 4 else torch.channels_last_3d


def in_format_of(result: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """`result` with channels innermost where the strides of `self` have them there, else contiguous."""
    return aten.contiguous(result, memory_format=channels_last(self) or torch.contiguous_format)


def widened(self: torch.Tensor) -> torch.Tensor:
    """Half precision in float32, in which eager's kernels accumulate."""
    return aten._to_copy(self, dtype=torch.float32) if self.dtype in _HALF else self


def narrowed(result: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Back in the dtype of the result."""
    return result if result.dtype is dtype else aten._to_copy(result, dtype=dtype)


def _lowest(dtype: torch.dtype) -> Any:
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _numbered(x: torch.Tensor, index: torch.Tensor | None, dim: int) -> torch.Tensor:
    """The index of each element, over the dimensions from `dim` on; it broadcasts with `x`.

    `index` is what the dimensions behind `dim` gave, whose elements it counts already.
    """
    place = along(aten.arange(x.shape[dim], device=x.device), dim)
    return place if index is None else place + index


def _better(part: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    above = aten.gt(part, best)
    return aten.bitwise_or(above, aten.ne(part, part)) if part.dtype.is_floating_point else above


def _sliding_maximum(x: torch.Tensor, index: torch.Tensor, dim: int, axis: Axis) -> Picked:
    """The running maximum over the elements of all windows at once."""
    padded, numbered = axis.padded(x, dim, _lowest(x.dtype)), axis.padded(index, dim, 0)
    best = axis.part(padded, dim, 0)
    place = take(index, dim, sliding_ranges(axis, x.device).first) if axis.padding else axis.part(numbered, dim, 0)
    for j in range(1, axis.kernel):
        part = axis.part(padded, dim, j)
        place = aten.where(_better(part, best), axis.part(numbered, dim, j), place)
        best = aten.maximum(best, part)
    return best, place


def _maximum(x: torch.Tensor, index: torch.Tensor, dim: int, ranges: Ranges) -> Picked:
    """The maximum of each window. Argmax finds the first of equals and the first NaN; run backwards, it finds the last."""
    windows, numbered = gathered(x, dim, ranges), gathered(index, dim, ranges)
    pick = aten.argmax(windows, dim, True)
    if x.dtype.is_floating_point:
        backwards = ranges.width - 1 - aten.argmax(aten.flip(windows, [dim]), dim, True)
        best = aten.gather(windows, dim, pick)
        pick = aten.where(aten.ne(best, best), backwards, pick)
    best = aten.gather(windows, dim, pick)
    place = aten.gather(aten.expand(numbered, windows.shape), dim, pick)
    return aten.squeeze(best, dim), aten.squeeze(place, dim)


def _max_pool(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    dims: int,
) -> Picked:
    value, place, inner = self, None, 1
    axes = sliding_axes(self.shape, kernel_size, stride, padding, dilation, ceil_mode, dims)
    for dim in range(-1, -dims - 1, -1):
        axis = axes[dim]
        place = _numbered_from(value, place, dim, inner)
        if axis.kernel <= UNROLLED:
            value, place = _sliding_maximum(value, place, dim, axis)
        else:
            value, place = _maximum(value, place, dim, sliding_ranges(axis, self.device))
        inner = inner * axis.size
    return _finished(value, place, self)
