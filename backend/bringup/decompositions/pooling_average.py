"""Pooling by averages of windows, sliding and adaptive, and its gradients.

The gradient goes in equal shares to the elements of a window, so that each element's gradient is a sum over the windows that read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.memory_formats import in_format_of
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import (
    UNROLLED,
    Axis,
    Ranges,
    adaptive_ranges,
    along,
    readers,
    sliding_axes,
    sliding_ranges,
    sum_ranges,
)

TABLE = Decompositions("pooling_average")
aten = torch.ops.aten


def _counts(axes: Sequence[Axis], count_include_pad: bool, divisor_override: int | None, like: torch.Tensor) -> Any:
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


def _divided(total: torch.Tensor, count: Any) -> torch.Tensor:
    """Sums over counts; integers are truncated."""
    if total.dtype.is_floating_point:
        return aten.div(total, count)
    return aten.div(total, count, rounding_mode="trunc")


def _average(
    self: torch.Tensor, axes: Sequence[Axis], count_include_pad: bool, divisor_override: int | None
) -> torch.Tensor:
    total = widened(self)
    for dim in range(-1, -len(axes) - 1, -1):
        axis = axes[dim]
        if axis.kernel > UNROLLED:
            total = sum_ranges(total, dim, sliding_ranges(axis, self.device))
            continue
        padded = axis.padded(total, dim, 0)
        total = axis.part(padded, dim, 0)
        for j in range(1, axis.kernel):
            total = total + axis.part(padded, dim, j)
    result = _divided(total, _counts(axes, count_include_pad, divisor_override, total))
    return in_format_of(narrowed(result, self.dtype), self)


def _average_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    axes: Sequence[Axis],
    count_include_pad: bool,
    divisor_override: int | None,
) -> torch.Tensor:
    total = widened(grad)
    total = aten.div(total, _counts(axes, count_include_pad, divisor_override, total))
    for dim in range(-1, -len(axes) - 1, -1):
        total = sum_ranges(total, dim, readers(axes[dim], self.device))
    return in_format_of(narrowed(total, grad.dtype), self)


@TABLE.register("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_avg_pool(self: torch.Tensor, output_size: Sequence[Any]) -> torch.Tensor:
    """_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"""
    total = widened(self)
    for dim in range(-1, -len(output_size) - 1, -1):
        ranges = adaptive_ranges(total.shape[dim], output_size[dim], self.device)
        total = aten.div(sum_ranges(total, dim, ranges), _lengths(ranges, dim, total.dtype))
    return in_format_of(narrowed(total, self.dtype), self)


def _lengths(ranges: Ranges, dim: int, dtype: torch.dtype) -> Any:
    """How many elements each window has: a number, or a tensor that varies along `dim`."""
    return ranges.width if ranges.tiles else along(aten._to_copy(ranges.last - ranges.first + 1, dtype=dtype), dim)


def _add(dims: int) -> None:
    @TABLE.register(f"aten::avg_pool{dims}d")
    def avg_pool(
        self: torch.Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> torch.Tensor:
        """avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, ...) -> Tensor"""
        axes = sliding_axes(self.shape, kernel_size, stride, padding, [1], ceil_mode, dims)
        return _average(self, axes, count_include_pad, divisor_override)

    @TABLE.register(f"aten::avg_pool{dims}d_backward")
    def avg_pool_backward(
        grad_output: torch.Tensor,
        self: torch.Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> torch.Tensor:
        """avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, ...) -> Tensor"""
        axes = sliding_axes(self.shape, kernel_size, stride, padding, [1], ceil_mode, dims)
        return _average_backward(grad_output, self, axes, count_include_pad, divisor_override)

    @TABLE.register(f"aten::_adaptive_avg_pool{dims}d_backward")
    def adaptive_avg_pool_backward(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
        """_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"""
        total = widened(grad_output)
        for dim in range(-1, -dims - 1, -1):
            n, count = self.shape[dim], grad_output.shape[dim]
            total = aten.div(total, _lengths(adaptive_ranges(n, count, self.device), dim, total.dtype))
            total = sum_ranges(total, dim, adaptive_ranges(count, n, self.device))
        return in_format_of(narrowed(total, grad_output.dtype), self)


for _dims in (2, 3):
    _add(_dims)
