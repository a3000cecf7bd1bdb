"""Batch normalisation: every channel is shifted and scaled to mean 0 and variance 1 (Ioffe and Szegedy, 2015).

The running statistics take the unbiased variance, the output takes the biased one. Nothing here writes to the running
statistics: the functional overloads return the new ones, and a call that would have to write is left as it is.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

from bringup.decompositions.half_precision import accumulation_dtype, widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("batch norm")
aten = torch.ops.aten

Optional: TypeAlias = torch.Tensor | None


def _by_channel(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """(C) as (1, C, 1, ...), in `like`'s computing dtype."""
    return aten.reshape(values, [1, -1, *[1] * (like.dim() - 2)]).to(accumulation_dtype(like.dtype))


def _statistics_dtype(
    input: torch.Tensor, weight: Optional, bias: Optional, mean: Optional, var: Optional
) -> torch.dtype:
    """The dtype of the saved statistics: float32 where half-precision input meets float32 parameters."""
    others = [t for t in (weight, bias, mean, var) if t is not None]
    return torch.float32 if any(t.dtype != input.dtype for t in others) else input.dtype


def _affine(centred: torch.Tensor, rstd: torch.Tensor, weight: Optional, bias: Optional) -> torch.Tensor:
    """centred rstd weight + bias, channel by channel, in the computing dtype."""
    result = centred * _by_channel(rstd, centred)
    if weight is not None:
        result = result * _by_channel(weight, centred)
    if bias is not None:
        result = result + _by_channel(bias, centred)
    return result


def _measured(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The input less its channels' means, and their mean and biased variance, each (C).

    The mean of what is left after the first mean is subtracted is that mean's rounding error; eager's kernel adds up in float64, which a
    device may not have.
    """
    dims = [0, *range(2, input.dim())]
    count = _count(input)
    values = widened(input)
    rough = aten.sum(values, dims, True) / count
    left = values - rough
    slip = aten.sum(left, dims, True) / count
    centred = left - slip
    return centred, aten.squeeze(rough + slip, dims), aten.sum(centred * centred, dims) / count


def _count(input: torch.Tensor) -> Any:
    """Elements of a channel."""
    return input.numel() // input.shape[1] if input.shape[1] != 0 else 0


def _train(
    input: torch.Tensor, weight: Optional, bias: Optional, mean: Optional, var: Optional, momentum: float, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Optional, Optional]:
    """Output, saved mean, saved 1 / standard deviation, new running mean, new running variance."""
    centred, saved_mean, biased = _measured(input)
    rstd = torch.rsqrt(biased + eps)
    dtype = _statistics_dtype(input, weight, bias, mean, var)
    output = _affine(centred, rstd, weight, bias).to(input.dtype)
    if mean is not None:
        mean = (saved_mean * momentum + mean.to(saved_mean.dtype) * (1 - momentum)).to(mean.dtype)
    if var is not None:
        unbiased = aten.div(biased * _count(input), _count(input) - 1)  # of a single element NaN, as eager
        var = (unbiased * momentum + var.to(biased.dtype) * (1 - momentum)).to(var.dtype)
    return output, saved_mean.to(dtype), rstd.to(dtype), mean, var


def _infer(
    input: torch.Tensor, weight: Optional, bias: Optional, mean: torch.Tensor, var: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Output, and on the CPU two empty tensors where other devices save the statistics."""
    wide = accumulation_dtype(input.dtype)
    wide_mean, rstd = mean.to(wide), torch.rsqrt(var.to(wide) + eps)
    centred = widened(input) - _by_channel(wide_mean, input)
    output = _affine(centred, rstd, weight, bias).to(input.dtype)
    if input.device.type != "cpu":
        return output, wide_mean, rstd
    none = aten.full.default([0], 0, dtype=_statistics_dtype(input, weight, bias, mean, var), device=input.device)
    return output, none, aten.clone(none)


def _reserve(input: torch.Tensor) -> torch.Tensor:
    """What only cuDNN stores between forward and backward."""
    return aten.full.default([0], 0, dtype=torch.uint8, device=input.device)


@TABLE.register("aten::native_batch_norm", "aten::_native_batch_norm_legit")
def native_batch_norm(
    input: torch.Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Optional,
    running_var: Optional,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, ...) -> (Tensor, Tensor, Tensor)"""
    if not training and running_mean is not None and running_var is not None:
        return _infer(input, weight, bias, running_mean, running_var, eps)
    if training and running_mean is None and running_var is None:
        return _train(input, weight, bias, None, None, momentum, eps)[:3]
    return NotImplemented


@TABLE.register("aten::_native_batch_norm_legit.no_stats")
def _native_batch_norm_legit_no_stats(
    input: torch.Tensor, weight: Optional, bias: Optional, training: bool, momentum: float, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, ...) -> (Tensor, Tensor, Tensor)"""
    return _train(input, weight, bias, None, None, momentum, eps)[:3]


@TABLE.register("aten::_native_batch_norm_legit_no_training")
def _native_batch_norm_legit_no_training(
    input: torch.Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, ...) -> (Tensor, Tensor, Tensor)"""
    return _infer(input, weight, bias, running_mean, running_var, eps)


@TABLE.register("aten::_native_batch_norm_legit_functional")
def _native_batch_norm_legit_functional(
    input: torch.Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Optional, Optional]:
    """_native_batch_norm_legit_functional(Tensor input, ...) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"""
    if training:
        return _train(input, weight, bias, running_mean, running_var, momentum, eps)
    return (
        *_infer(input, weight, bias, running_mean, running_var, eps),
        aten.clone(running_mean),
        aten.clone(running_var),
    )


@TABLE.register("aten::_batch_norm_with_update_functional")
def _batch_norm_with_update_functional(
    input: torch.Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, Optional, Optional]:
    """_batch_norm_with_update_functional(Tensor input, ...) -> (Tensor, Tensor, Tensor, Tensor reserve, Tensor, Tensor)"""
    output, mean, rstd, new_mean, new_var = _train(input, weight, bias, running_mean, running_var, momentum, eps)
    return output, mean, rstd, _reserve(input), new_mean, new_var


@TABLE.register("aten::_batch_norm_no_update")
def _batch_norm_no_update(
    input: torch.Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, ...) -> (Tensor, Tensor, Tensor, Tensor)"""
    return (*_infer(input, weight, bias, running_mean, running_var, eps), _reserve(input))
