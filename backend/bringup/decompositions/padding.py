"""Gradients of padding by reflection and by replication.

Padding reads, along each padded dimension, element s(j) of the input for element j of the output. Its gradient adds element j of the
output's gradient to element s(j), one dimension after the other: the maps of different dimensions are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("padding")
aten = torch.ops.aten

Source = Callable[[torch.Tensor, Any, Any], torch.Tensor]


def _replicated(j: torch.Tensor, before: Any, n: Any) -> torch.Tensor:
    return aten.clamp(j - before, 0, n - 1)


def _reflected(j: torch.Tensor, before: Any, n: Any) -> torch.Tensor:
    """The triangle wave of period 2(n - 1) between 0 and n - 1."""
    return (n - 1) - aten.abs((n - 1) - aten.abs(j - before))


def _gradient(grad: torch.Tensor, self: torch.Tensor, padding: Sequence[Any], source: Source) -> torch.Tensor:
    wide = accumulation_dtype(grad.dtype)
    result = grad if wide is grad.dtype else aten._to_copy(grad, dtype=wide)
    for k in range(len(padding) // 2):
        before, after, dim = padding[2 * k], padding[2 * k + 1], self.dim() - 1 - k
        if type(before) is int and type(after) is int and before == after == 0:
            continue
        index = source(aten.arange(result.shape[dim], device=self.device), before, self.shape[dim])
        size = [*result.shape[:dim], self.shape[dim], *result.shape[dim + 1 :]]
        zeros = aten.full.default(size, 0, dtype=wide, device=self.device)
        result = aten.index_put(zeros, [None] * dim + [index], result, True)
    return result if wide is grad.dtype else aten._to_copy(result, dtype=grad.dtype)


@TABLE.register(
    "aten::replication_pad1d_backward", "aten::replication_pad2d_backward", "aten::replication_pad3d_backward"
)
def replication_pad_backward(grad_output: torch.Tensor, self: torch.Tensor, padding: Sequence[Any]) -> torch.Tensor:
    """replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"""
    return _gradient(grad_output, self, padding, _replicated)


@TABLE.register("aten::reflection_pad1d_backward", "aten::reflection_pad2d_backward", "aten::reflection_pad3d_backward")
def reflection_pad_backward(grad_output: torch.Tensor, self: torch.Tensor, padding: Sequence[Any]) -> torch.Tensor:
    """reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"""
    return _gradient(grad_output, self, padding, _reflected)
