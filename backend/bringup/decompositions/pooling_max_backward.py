"""Gradients of pooling by maxima: each goes to the element at the maximum's index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.memory_formats import in_format_of
from bringup.decompositions.pooling_max import max_pool
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import sliding_axes

TABLE = Decompositions("pooling_max_backward")
aten = torch.ops.aten


def _to_indices(
    grad: torch.Tensor, self: torch.Tensor, indices: torch.Tensor, dims: int, *, volumes: bool = False
) -> torch.Tensor:
    planes = list(self.shape[:-dims])
    zeros = aten.full.default(
        [*planes, math.prod(self.shape[-dims:])], 0, dtype=widened(grad).dtype, device=self.device
    )
    rows = [*planes, math.prod(grad.shape[-dims:])]
    total = aten.scatter_add(zeros, len(planes), aten.reshape(indices, rows), aten.reshape(widened(grad), rows))
    return in_format_of(narrowed(aten.view(total, self.shape), grad.dtype), self, volumes=volumes)


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
    _, indices = max_pool(self, sliding_axes(self.shape, kernel_size, stride, padding, dilation, ceil_mode, 2))
    return _to_indices(grad_output, self, indices, 2)


def _add(dims: int) -> None:
    @TABLE.register(f"aten::max_pool{dims}d_with_indices_backward")
    def max_pool_with_indices_backward(
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
        return _to_indices(grad_output, self, indices, dims, volumes=True)

    @TABLE.register(f"aten::adaptive_max_pool{dims}d_backward")
    def adaptive_max_pool_backward(
        grad_output: torch.Tensor, self: torch.Tensor, indices: torch.Tensor
    ) -> torch.Tensor:
        """adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"""
        return _to_indices(grad_output, self, indices, dims)

    @TABLE.register(f"aten::fractional_max_pool{dims}d_backward")
    def fractional_max_pool_backward(
        grad_output: torch.Tensor, self: torch.Tensor, kernel_size: Any, output_size: Any, indices: torch.Tensor
    ) -> torch.Tensor:
        """fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor"""
        gradient = _to_indices(grad_output, self, indices, dims)
        return aten.contiguous(gradient) if dims == 2 else gradient


for _dims in (2, 3):
    _add(_dims)
