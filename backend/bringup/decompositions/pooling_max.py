"""Pooling by maxima of windows, sliding and adaptive.

A maximum's index is eager's: the first of equal elements, the last NaN, counted over the pooled dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.memory_formats import in_format_of
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
    take,
)

TABLE = Decompositions("pooling_max")
aten = torch.ops.aten

Picked = tuple[torch.Tensor, torch.Tensor]


def _lowest(dtype: torch.dtype) -> Any:
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def numbered(x: torch.Tensor, index: torch.Tensor | None, dim: int, inner: Any) -> torch.Tensor:
    """The index of each element over the dimensions from `dim` on; it broadcasts with `x`.

    `index` is that over the dimensions behind `dim`, which had `inner` elements.
    """
    place = along(aten.arange(x.shape[dim], device=x.device) * inner, dim)
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


def picked(windows: torch.Tensor, numbered: torch.Tensor, dim: int) -> Picked:
    """The maximum over dimension `dim`. Argmax finds the first of equals and the first NaN; run backwards, it finds the last."""
    pick = aten.argmax(windows, dim, True)
    if windows.dtype.is_floating_point:
        backwards = windows.shape[dim] - 1 - aten.argmax(aten.flip(windows, [dim]), dim, True)
        best = aten.gather(windows, dim, pick)
        pick = aten.where(aten.ne(best, best), backwards, pick)
    best = aten.gather(windows, dim, pick)
    index = aten.gather(aten.expand(numbered, windows.shape), dim, pick)
    return aten.squeeze(best, dim), aten.squeeze(index, dim)


def _maximum(x: torch.Tensor, index: torch.Tensor, dim: int, ranges: Ranges) -> Picked:
    """The maximum of each window, all windows gathered."""
    return picked(gathered(x, dim, ranges), gathered(index, dim, ranges), dim)


def _finished(value: torch.Tensor, index: Any, self: torch.Tensor, *, volumes: bool = False) -> Picked:
    return in_format_of(value, self, volumes=volumes), in_format_of(
        aten.expand(index, value.shape), self, volumes=volumes
    )


def max_pool(self: torch.Tensor, axes: Sequence[Axis]) -> Picked:
    """The maxima of windows that slide along the last dimensions, and their indices."""
    value: torch.Tensor = self
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -len(axes) - 1, -1):
        axis = axes[dim]
        index = numbered(value, index, dim, inner)
        if axis.kernel <= UNROLLED:
            value, index = _sliding_maximum(value, index, dim, axis)
        else:
            value, index = _maximum(value, index, dim, sliding_ranges(axis, self.device))
        inner = inner * axis.size
    return _finished(value, index, self, volumes=True)


def _add(dims: int) -> None:
    @TABLE.register(f"aten::max_pool{dims}d_with_indices")
    def max_pool_with_indices(
        self: torch.Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> Picked:
        """max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, ...) -> (Tensor, Tensor)"""
        return max_pool(self, sliding_axes(self.shape, kernel_size, stride, padding, dilation, ceil_mode, dims))


for _dims in (2, 3):
    _add(_dims)


@TABLE.register("aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d")
def adaptive_max_pool(self: torch.Tensor, output_size: Sequence[Any]) -> Picked:
    """adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"""
    value: torch.Tensor = self
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -len(output_size) - 1, -1):
        index = numbered(value, index, dim, inner)
        inner = inner * value.shape[dim]
        value, index = _maximum(value, index, dim, adaptive_ranges(value.shape[dim], output_size[dim], self.device))
    return _finished(value, index, self)
