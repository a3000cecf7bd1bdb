"""Fake quantisation whose scale and zero point are learned.

Esser et al., "Learned Step Size Quantization", 2020; Jain et al., "Trained Quantization Thresholds", 2020: where nothing is clamped the
gradient to the scale is the rounding error over the scale, elsewhere it is the end of the range less the zero point.
"""

from __future__ import annotations

import torch

from bringup.decompositions.fake_quantize import along, first, multiply_add, per_channel, per_tensor
from bringup.decompositions.half_precision import widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fake quantize, learnable")
aten = torch.ops.aten


@TABLE.register("aten::_fake_quantize_learnable_per_tensor_affine")
def fake_quantize_learnable_per_tensor(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> torch.Tensor:
    """_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, ...) -> Tensor"""
    zero = torch.round(aten._to_copy(first(zero_point), dtype=torch.float32))
    return per_tensor(
        self,
        aten._to_copy(first(scale), dtype=torch.float32),
        aten._to_copy(torch.clamp(zero, quant_min, quant_max), dtype=torch.int64),
        quant_min,
        quant_max,
    )[0]


@TABLE.register("aten::_fake_quantize_learnable_per_channel_affine")
def fake_quantize_learnable_per_channel(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> torch.Tensor:
    """_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, ...) -> Tensor"""
    zero = aten._to_copy(torch.clamp(torch.round(zero_point), quant_min, quant_max), dtype=torch.int32)
    return per_channel(self, scale, zero, axis, quant_min, quant_max)[0]


def _learned(
    grad: torch.Tensor,
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of every element to the input, the scale and the zero point, not yet summed."""
    inverse = torch.reciprocal(scale)
    values = aten._to_copy(torch.round(multiply_add(self, inverse, zero_point)), dtype=torch.int64)
    low, high = values < quant_min, values > quant_max
    clamped = low | high
    bounds = torch.where(low, quant_min - zero_point, quant_max - zero_point)
    error = (torch.clamp(values, quant_min, quant_max) - zero_point) * scale - self
    to_scale = torch.where(clamped, grad * bounds, grad * error * inverse) * grad_factor
    to_zero = torch.where(clamped, -grad * scale * grad_factor, 0.0)
    return grad * aten._to_copy(~clamped, dtype=grad.dtype), to_scale, to_zero


@TABLE.register("aten::_fake_quantize_learnable_per_tensor_affine_backward")
def fake_quantize_learnable_per_tensor_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, ...) -> (Tensor, Tensor, Tensor)

    Eager rounds the zero point by adding a half here, and by ties to even in the forward direction.
    """
    if self.numel() == 0:
        return aten.clone(self), aten.clone(scale), aten.clone(zero_point)
    zero = torch.trunc(torch.clamp(widened(first(zero_point)) + 0.5, quant_min, quant_max))
    step = widened(first(scale))
    to_self, to_scale, to_zero = _learned(widened(grad), widened(self), step, zero, quant_min, quant_max, grad_factor)
    return to_self, *(aten.unsqueeze(aten.sum(t), 0) for t in (to_scale, to_zero))


@TABLE.register("aten::_fake_quantize_learnable_per_channel_affine_backward")
def fake_quantize_learnable_per_channel_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, ...) -> (Tensor, Tensor, Tensor)"""
    if self.numel() == 0:
        return aten.clone(self), aten.clone(scale), aten.clone(zero_point)
    zero = torch.clamp(torch.round(widened(zero_point)), quant_min, quant_max)
    step, zero = along(widened(scale), axis, self), along(zero, axis, self)
    to_self, to_scale, to_zero = _learned(widened(grad), widened(self), step, zero, quant_min, quant_max, grad_factor)
    others = [d for d in range(self.dim()) if d != axis]
    if not others:
        return to_self, to_scale, to_zero
    return to_self, aten.sum.dim_IntList(to_scale, others), aten.sum.dim_IntList(to_zero, others)
