"""Pooling: maxima and averages of windows, sliding, adaptive and fractional.

A maximum's index is eager's: the first of equal elements, the last NaN, counted over the pooled dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.creation import dense_strides, physical_order
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import (
    UNROLLED,
    Axis,
    Ranges,
    adaptive_ranges,
    along,
    gathered,
    per_dimension,
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
        n, stride = self.shape[dim], self.stride(dim)
        if n == 0 or stride < step or (dim == 0 and step == self.stride(1)):
            return None
        step = stride * n if n > 1 else stride
    return torch.channels_last if self.dim() == 4 else torch.channels_last_3d


def in_format_of(result: torch.Tensor, self: torch.Tensor, *, volumes: bool = False) -> torch.Tensor:
    """`result` with channels innermost where the strides of `self` have them there, else contiguous.

    Of eager's kernels for volumes only the sliding maximum keeps the format (`volumes`).
    """
    last = channels_last(self) if self.dim() == 4 or volumes else None
    if list(result.stride()) == dense_strides(result.shape, physical_order(result, last or torch.contiguous_format)):
        return result
    return aten.clone(result, memory_format=last or torch.contiguous_format)


def widened(self: torch.Tensor) -> torch.Tensor:
    """Half precision in float32, in which eager's kernels accumulate."""
    return aten._to_copy(self, dtype=torch.float32) if self.dtype in _HALF else self


def narrowed(result: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Back in the dtype of the result."""
    return result if result.dtype is dtype else aten._to_copy(result, dtype=dtype)


def _lowest(dtype: torch.dtype) -> Any:
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _numbered(x: torch.Tensor, index: torch.Tensor | None, dim: int, inner: Any) -> torch.Tensor:
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


def _picked(windows: torch.Tensor, numbered: torch.Tensor, dim: int) -> Picked:
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
    return _picked(gathered(x, dim, ranges), gathered(index, dim, ranges), dim)


def _finished(value: torch.Tensor, index: Any, self: torch.Tensor, *, volumes: bool = False) -> Picked:
    return in_format_of(value, self, volumes=volumes), in_format_of(
        aten.expand(index, value.shape), self, volumes=volumes
    )


def _max_pool(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    dims: int,
) -> Picked:
    axes = sliding_axes(self.shape, kernel_size, stride, padding, dilation, ceil_mode, dims)
    value: torch.Tensor = self
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -dims - 1, -1):
        axis = axes[dim]
        index = _numbered(value, index, dim, inner)
        if axis.kernel <= UNROLLED:
            value, index = _sliding_maximum(value, index, dim, axis)
        else:
            value, index = _maximum(value, index, dim, sliding_ranges(axis, self.device))
        inner = inner * axis.size
    return _finished(value, index, self, volumes=True)


@TABLE.register("aten::max_pool2d_with_indices")
def max_pool2d_with_indices(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Picked:
    """max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, ...) -> (Tensor, Tensor)"""
    return _max_pool(self, kernel_size, stride, padding, dilation, ceil_mode, 2)


@TABLE.register("aten::max_pool3d_with_indices")
def max_pool3d_with_indices(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Picked:
    """max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, ...) -> (Tensor, Tensor)"""
    return _max_pool(self, kernel_size, stride, padding, dilation, ceil_mode, 3)


@TABLE.register("aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d")
def adaptive_max_pool(self: torch.Tensor, output_size: Sequence[Any]) -> Picked:
    """adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"""
    value: torch.Tensor = self
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -len(output_size) - 1, -1):
        index = _numbered(value, index, dim, inner)
        inner = inner * value.shape[dim]
        value, index = _maximum(value, index, dim, adaptive_ranges(value.shape[dim], output_size[dim], self.device))
    return _finished(value, index, self)


def counts(axes: Sequence[Axis], count_include_pad: bool, divisor_override: int | None, like: torch.Tensor) -> Any:
    """What the sum of each window is divided by: a number, or a tensor that broadcasts with the pooled dimensions.

    The padding counts if `count_include_pad` says so; what a window reaches beyond it never does.
    """
    if divisor_override is not None:
        return divisor_override
    product: Any = 1
    for dim in range(-1, -len(axes) - 1, -1):
        axis, n, p = axes[dim], axes[dim].size, axes[dim].padding
        after = axis.overhang
        if (count_include_pad and p >= after) or (p == 0 and after == 0):
            product = product * axis.kernel
            continue
        start = axis.starts(like.device)
        stop = aten.clamp_max(start + axis.kernel, n + p if count_include_pad else n)
        length = aten.clamp_min(stop - (start if count_include_pad else aten.clamp_min(start, 0)), 1)
        product = product * along(length, dim)
    return narrowed(product, like.dtype) if isinstance(product, torch.Tensor) else product


def divided(total: torch.Tensor, count: Any) -> torch.Tensor:
    """Sums over counts; integers are truncated."""
    if total.dtype.is_floating_point:
        return aten.div(total, count)
    return aten.div(total, count, rounding_mode="trunc")


def _avg_pool(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    dims: int,
) -> torch.Tensor:
    axes = sliding_axes(self.shape, kernel_size, stride, padding, [1], ceil_mode, dims)
    total = widened(self)
    for dim in range(-1, -dims - 1, -1):
        axis = axes[dim]
        if axis.kernel > UNROLLED:
            total = sum_ranges(total, dim, sliding_ranges(axis, self.device))
            continue
        padded = axis.padded(total, dim, 0)
        total = axis.part(padded, dim, 0)
        for j in range(1, axis.kernel):
            total = total + axis.part(padded, dim, j)
    result = divided(total, counts(axes, count_include_pad, divisor_override, total))
    return in_format_of(narrowed(result, self.dtype), self)


@TABLE.register("aten::avg_pool2d")
def avg_pool2d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, ...) -> Tensor"""
    return _avg_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


@TABLE.register("aten::avg_pool3d")
def avg_pool3d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, ...) -> Tensor"""
    return _avg_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


@TABLE.register("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_avg_pool(self: torch.Tensor, output_size: Sequence[Any]) -> torch.Tensor:
    """_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"""
    total = widened(self)
    for dim in range(-1, -len(output_size) - 1, -1):
        ranges = adaptive_ranges(total.shape[dim], output_size[dim], self.device)
        total = aten.div(sum_ranges(total, dim, ranges), lengths(ranges, dim, total.dtype))
    return in_format_of(narrowed(total, self.dtype), self)


def lengths(ranges: Ranges, dim: int, dtype: torch.dtype) -> Any:
    """How many elements each window has: a number, or a tensor that varies along `dim`."""
    return ranges.width if ranges.tiles else along(aten._to_copy(ranges.last - ranges.first + 1, dtype=dtype), dim)


def _fractional_starts(samples: torch.Tensor, size: Any, kernel: int, count: int) -> torch.Tensor:
    """Where the windows begin, [..., count], from one random number u a plane: floor((i + u) a) - floor(u a), the last one at the end.

    a = (size - kernel) / (count - 1). Graham, Fractional Max-Pooling (2014), section 2, in the arithmetic of the samples' dtype.
    """
    u = aten.unsqueeze(samples, -1)
    end = aten.expand(aten.full([1], size - kernel, dtype=torch.int64, device=u.device), [*samples.shape, 1])
    if count == 1:
        return end
    slope = aten.full([], size - kernel, dtype=u.dtype, device=u.device) / (count - 1)
    i = aten.arange(count - 1, dtype=u.dtype, device=u.device)
    first, shift = aten._to_copy((i + u) * slope, dtype=torch.int64), aten._to_copy(u * slope, dtype=torch.int64)
    return aten.cat([first - shift, end], -1)


@TABLE.register("aten::fractional_max_pool2d", "aten::fractional_max_pool3d")
def fractional_max_pool(
    self: torch.Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: torch.Tensor
) -> Picked:
    """fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)

    Every plane has windows of its own. The samples of a plane are for its width and height, or for its depth, height and width.
    """
    dims = 3 if random_samples.shape[-1] == 3 else 2
    kernel, count = per_dimension(kernel_size, dims), per_dimension(output_size, dims)
    planes = list(self.shape[:-dims])
    samples = aten.reshape(random_samples, [*planes, dims])
    value: torch.Tensor = aten.contiguous(self)
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -dims - 1, -1):
        n, o, k = value.shape[dim], count[dim], kernel[dim]
        column = aten.select(samples, -1, -1 - dim if dims == 2 else dim)
        starts = aten.unsqueeze(_fractional_starts(column, n, k, o), -1)
        at = aten.reshape(
            starts + aten.arange(k, device=self.device), [*planes, *[1] * (dims + dim), o * k, *[1] * (-dim - 1)]
        )
        shape = [*value.shape]
        shape[dim] = o * k
        at = aten.expand(at, shape)
        numbered = aten.expand(_numbered(value, index, dim, inner), value.shape)
        split = [*shape[: len(shape) + dim], o, k, *shape[len(shape) + dim + 1 :]]
        windows = aten.reshape(aten.gather(value, dim, at), split)
        value, index = _picked(windows, aten.reshape(aten.gather(numbered, dim, at), split), dim)
        inner = inner * n
    return value, index
