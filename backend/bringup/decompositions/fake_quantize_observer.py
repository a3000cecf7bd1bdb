"""Fake quantisation that watches the range of its input: a moving average of the extremes gives the scale and the zero point.

Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018, sections 2.1 and 3.1.
The range is extended to contain 0, which is an integer of the grid exactly; of the two ends, that one gives the zero point whose rounding
error is smaller. Computed in float64 and rounded where eager rounds.
"""

from __future__ import annotations

import torch

from bringup.decompositions.fake_quantize import fake_quantize_tensor_qparams, is_on, per_channel
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fake quantize, observer")
aten = torch.ops.aten

_SMALLEST_SCALE = 6.1e-5  # reciprocals of smaller ones would meet subnormal numbers of half precision
_DEFAULT_SCALE = 0.1  # of a range without extent


def _single(values: torch.Tensor) -> torch.Tensor:
    """Rounded to float32, in float64."""
    return aten._to_copy(aten._to_copy(values, dtype=torch.float32), dtype=torch.float64)


def _averaged(running: torch.Tensor, seen: torch.Tensor, constant: float) -> torch.Tensor:
    """The next moving average; one that has seen nothing yet is infinite."""
    return torch.where(torch.isinf(running), seen, running + (seen - running) * constant)


def chosen(
    low: torch.Tensor, high: torch.Tensor, quant_min: int, quant_max: int, symmetric: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale (float32) and zero point (int64) for the ranges from `low` to `high`."""
    low, high = (aten._to_copy(t, dtype=torch.float64) for t in (low, high))
    width = quant_max - quant_min
    if symmetric:
        both = (low < 0) & (high > 0)
        half = width // 2
        reach = torch.maximum(torch.abs(_single(low / -(half + 1))), torch.abs(_single(high / half)))
        low = torch.where(both, _single(reach * -(half + 1)), low)
        high = torch.where(both, _single(reach * half), high)
    low, high = torch.clamp(low, max=0.0), torch.clamp(high, min=0.0)
    scale = (high - low) / width
    single = _single(scale)
    unusable = (single == 0) | torch.isinf(_single(1 / single))
    scale = torch.where(unusable, _DEFAULT_SCALE, scale)
    low, high, scale = _cut_off(low, high, scale, width)
    from_low, from_high = quant_min - low / scale, quant_max - high / scale
    error_low, error_high = abs(quant_min) - torch.abs(low / scale), abs(quant_max) - torch.abs(high / scale)
    zero = torch.where(error_low < error_high, from_low, from_high)
    if symmetric:
        zero = torch.where((low < 0) & (high > 0), (quant_min + quant_max) / 2, zero)
    zero = torch.round(torch.clamp(zero, quant_min, quant_max))
    return aten._to_copy(scale, dtype=torch.float32), aten._to_copy(zero, dtype=torch.int64)


def _cut_off(
    low: torch.Tensor, high: torch.Tensor, scale: torch.Tensor, width: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The range and its scale, made larger where the scale is below the smallest."""
    smallest = _single(aten.full.default([], _SMALLEST_SCALE, dtype=torch.float64, device=scale.device))
    small = scale < smallest
    grown, whole = _single(smallest / _single(scale)), _single(smallest * width)
    new_low = torch.where(low == 0, low, torch.where(high == 0, -whole, _single(low * grown)))
    new_high = torch.where(low == 0, whole, torch.where(high == 0, high, _single(high * grown)))
    return torch.where(small, new_low, low), torch.where(small, new_high, high), torch.where(small, smallest, scale)


@TABLE.register("aten::_fused_moving_avg_obs_fq_helper_functional")
def fused_moving_avg_obs_fq_helper(
    self: torch.Tensor,
    observer_on: torch.Tensor,
    fake_quant_on: torch.Tensor,
    running_min: torch.Tensor,
    running_max: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """_fused_moving_avg_obs_fq_helper_functional(Tensor self, Tensor observer_on, ...) -> (Tensor output, Tensor mask, Tensor, Tensor, Tensor, Tensor)

    The state comes out changed only as far as the two switches say so.
    """
    dims = [1] if per_row_fake_quant else list(range(self.dim()))
    observing, quantizing = is_on(observer_on), is_on(fake_quant_on)
    new_min = _averaged(running_min, aten.reshape(aten.amin(self, dims), running_min.shape), averaging_const)
    new_max = _averaged(running_max, aten.reshape(aten.amax(self, dims), running_max.shape), averaging_const)
    new_min, new_max = torch.where(observing, new_min, running_min), torch.where(observing, new_max, running_max)
    new_scale, new_zero = chosen(new_min, new_max, quant_min, quant_max, symmetric_quant)
    new_scale = torch.where(quantizing, aten._to_copy(new_scale, dtype=scale.dtype), scale)
    new_zero = torch.where(quantizing, aten._to_copy(new_zero, dtype=zero_point.dtype), zero_point)
    if per_row_fake_quant:
        result, mask = per_channel(self, new_scale, new_zero, ch_axis, quant_min, quant_max)
        result, mask = torch.where(quantizing, result, self), mask | ~quantizing
    else:
        result, mask = fake_quantize_tensor_qparams(self, new_scale, new_zero, fake_quant_on, quant_min, quant_max)
    return result, mask, new_min, new_max, new_scale, new_zero
