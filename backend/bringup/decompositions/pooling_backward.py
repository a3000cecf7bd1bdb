"""Gradients of pooling.

A maximum's gradient goes to the element at its index. An average's goes in equal shares to the elements of its window, so that each
element's gradient is a sum over the windows that read it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.pooling import counts, in_format_of, lengths, max_pool2d_with_indices, narrowed, widened
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import adaptive_ranges, readers, sliding_axes, sum_ranges

TABLE = Decompositions("pooling_backward")
aten = torch.ops.aten


def _to_indices(
    grad: torch.Tensor, self: torch.Tensor, indices: torch.Tensor, dims: int, *, volumes: bool = False
) -> torch.Tensor:
    planes = list(self.shape[:-dims])
    zeros = aten.full([*planes, math.prod(self.shape[-dims:])], 0, dtype=widened(grad).dtype, device=self.device)
    rows = [*planes, math.prod(grad.shape[-dims:])]
    total = aten.scatter_add(zeros, len(planes), aten.reshape(indices, rows), aten.reshape(widened(grad), rows))
    return in_format_of(narrowed(aten.view(total, self.shape), grad.dtype), self, volumes=volumes)


@TABLE.register("aten::max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: torch.Tensor,
) -> torch.Tensor:
    """max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, ..., Tensor indices) -> Tensor"""
    return _to_indices(grad_output, self, indices, 2)


@TABLE.register("aten::max_pool3d_with_indices_backward")
def max_pool3d_with_indices_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: torch.Tensor,
) -> torch.Tensor:
    """max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, ..., Tensor indices) -> Tensor"""
    return _to_indices(grad_output, self, indices, 3, volumes=True)


@TABLE.register("aten::max_pool2d_backward")
def max_pool2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> torch.Tensor:
    """max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride=[], ...) -> Tensor"""
    _, indices = max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    return _to_indices(grad_output, self, indices, 2)


@TABLE.register("aten::adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(grad_output: torch.Tensor, self: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"""
    return _to_indices(grad_output, self, indices, 2)


@TABLE.register("aten::adaptive_max_pool3d_backward")
def adaptive_max_pool3d_backward(grad_output: torch.Tensor, self: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"""
    return _to_indices(grad_output, self, indices, 3)


@TABLE.register("aten::fractional_max_pool2d_backward")
def fractional_max_pool2d_backward(
    grad_output: torch.Tensor, self: torch.Tensor, kernel_size: Any, output_size: Any, indices: torch.Tensor
) -> torch.Tensor:
    """fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor"""
    return aten.contiguous(_to_indices(grad_output, self, indices, 2))


@TABLE.register("aten::fractional_max_pool3d_backward")
def fractional_max_pool3d_backward(
    grad_output: torch.Tensor, self: torch.Tensor, kernel_size: Any, output_size: Any, indices: torch.Tensor
) -> torch.Tensor:
    """fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices) -> Tensor"""
    return _to_indices(grad_output, self, indices, 3)


def _average(
    grad: torch.Tensor,
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
    total = widened(grad)
    total = aten.div(total, counts(axes, count_include_pad, divisor_override, total))
    for dim in range(-1, -dims - 1, -1):
        total = sum_ranges(total, dim, readers(axes[dim], self.device))
    return in_format_of(narrowed(total, grad.dtype), self)


@TABLE.register("aten::avg_pool2d_backward")
def avg_pool2d_backward(
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
    return _average(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


@TABLE.register("aten::avg_pool3d_backward")
def avg_pool3d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> torch.Tensor:
    """avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, ...) -> Tensor"""
    return _average(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


def _adaptive_average(grad: torch.Tensor, self: torch.Tensor, dims: int) -> torch.Tensor:
    total = widened(grad)
    for dim in range(-1, -dims - 1, -1):
        n, count = self.shape[dim], grad.shape[dim]
        total = aten.div(total, lengths(adaptive_ranges(n, count, self.device), dim, total.dtype))
        total = sum_ranges(total, dim, adaptive_ranges(count, n, self.device))
    return in_format_of(narrowed(total, grad.dtype), self)


@TABLE.register("aten::_adaptive_avg_pool2d_backward")
def _adaptive_avg_pool2d_backward(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"""
    return _adaptive_average(grad_output, self, 2)


@TABLE.register("aten::_adaptive_avg_pool3d_backward")
def _adaptive_avg_pool3d_backward(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor"""
    return _adaptive_average(grad_output, self, 3)
