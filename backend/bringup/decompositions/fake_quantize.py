"""Fake quantisation: numbers are rounded to the grid of an integer dtype and stay floats.

``q = clamp(round(x / scale) + zero_point, quant_min, quant_max)`` with ties to even, and the result is ``(q - zero_point) scale``; the mask
says what was not clamped, and the gradient passes there (Jacob et al., "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference", 2018). The order of roundings is that of eager's kernels: ``x`` times the rounded reciprocal of the
scale, in float32 for float32 and half precision.
"""

from __future__ import annotations

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fake quantize")
aten = torch.ops.aten

_EXACT = 2**24  # integers up to here are exact in float32


def _number(value: float | int, dtype: torch.dtype, like: torch.Tensor) -> torch.Tensor:
    return aten.full.default([], value, dtype=dtype, device=like.device)


def first(values: torch.Tensor) -> torch.Tensor:
    """The first element, as a 0-dim tensor."""
    return aten.select.int(values, 0, 0)


def _clamped(values: torch.Tensor, quant_min: int, quant_max: int) -> torch.Tensor:
    """Floats with integer values as int64 in the range, exactly; NaN becomes `quant_min`."""
    low, high = (_number(v, torch.int64, values) for v in (quant_min, quant_max))
    inside = torch.where(values < quant_max, aten._to_copy(values, dtype=torch.int64), high)
    return torch.where(values > quant_min, inside, low)


def per_tensor(
    self: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Result and mask for one scale (float32) and one zero point (int64), both 0-dim."""
    wide = widened(self)
    values = aten._to_copy(zero_point, dtype=wide.dtype) + torch.round(wide * torch.reciprocal(scale))
    steps = _clamped(values, quant_min, quant_max) - zero_point
    result = aten._to_copy(steps, dtype=torch.float32) * scale
    return narrowed(result, self.dtype), (values >= quant_min) & (values <= quant_max)


def per_channel(
    self: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Result and mask for scales and zero points along `axis`.

    A zero point that is no integer is added before rounding. What does not fit into int64 (infinities, NaN) is what the conversion makes
    of it, as in eager.
    """
    wide = widened(self)
    scale, zero_point = (along(t, axis, self) for t in (aten._to_copy(scale, dtype=torch.float32), zero_point))
    inverse = torch.reciprocal(scale)
    exact = zero_point.dtype.is_floating_point or quant_max - quant_min > _EXACT or self.dtype is torch.float64
    product = torch.float64 if exact else torch.float32
    if zero_point.dtype.is_floating_point:
        values = torch.round(multiply_add(wide, inverse, zero_point))
    else:
        values = aten._to_copy(zero_point, dtype=wide.dtype) + torch.round(wide * inverse)
    quantized = aten._to_copy(values, dtype=torch.int64)
    kept = aten._to_copy(torch.clamp(quantized, quant_min, quant_max), dtype=product)
    result = (kept - aten._to_copy(zero_point, dtype=product)) * aten._to_copy(scale, dtype=product)
    return narrowed(result, self.dtype), (quantized >= quant_min) & (quantized <= quant_max)


def multiply_add(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a b + c in float32, rounded once as the host's instruction does it: half an ulp decides at ties."""
    a, b, c = (aten._to_copy(t, dtype=torch.float64) for t in (a, b, c))
    return aten._to_copy(a * b + c, dtype=torch.float32)


def along(values: torch.Tensor, axis: int, like: torch.Tensor) -> torch.Tensor:
    """(C) as (1, ..., C, ..., 1), to go with `like` along `axis`."""
    return aten.view(aten.contiguous(values), [-1 if d == axis else 1 for d in range(like.dim())])


@TABLE.register("aten::fake_quantize_per_tensor_affine_cachemask")
def fake_quantize_per_tensor_affine_cachemask(
    self: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor, Tensor)"""
    step, zero = _number(scale, torch.float32, self), _number(zero_point, torch.int64, self)
    return per_tensor(self, step, zero, quant_min, quant_max)


@TABLE.register("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def fake_quantize_tensor_qparams(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    fake_quant_enabled: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ...) -> (Tensor, Tensor)"""
    step = aten.reshape(aten._to_copy(scale, dtype=torch.float32), [])
    zero = aten.reshape(aten._to_copy(zero_point, dtype=torch.int64), [])
    result, mask = per_tensor(self, step, zero, quant_min, quant_max)
    enabled = is_on(fake_quant_enabled)
    return torch.where(enabled, result, self), mask | ~enabled


def is_on(switch: torch.Tensor) -> torch.Tensor:
    """Whether the integer part of a tensor of one element is not zero, as a 0-dim bool tensor."""
    return aten._to_copy(aten.reshape(switch, []), dtype=torch.int32) != 0


@TABLE.register("aten::fake_quantize_per_channel_affine_cachemask")
def fake_quantize_per_channel_affine_cachemask(
    self: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, ...) -> (Tensor, Tensor)"""
    return per_channel(self, scale, zero_point, axis, quant_min, quant_max)
