"""Normalisation of layers, of groups of channels and of weights.

Layers (Ba et al., 2016) and groups (Wu and He, 2018) are shifted and scaled to mean 0 and variance 1. A weight is
w = g v / |v| (Salimans and Kingma, 2016), whence

    grad g = sum(grad w v) / |v|,   grad v = g / |v| (grad w - v sum(grad w v) / |v|^2)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("norms")
aten = torch.ops.aten


def _standardised(x: torch.Tensor, dims: list[int], eps: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x with mean 0 and variance 1 over `dims`, the mean and 1 / standard deviation (of nothing: 0 and NaN, as eager)."""
    if any(isinstance(x.shape[d], int) and x.shape[d] == 0 for d in dims):
        size = [1 if d in dims else n for d, n in enumerate(x.shape)]
        mean = aten.full.default(size, 0, dtype=x.dtype, device=x.device)
        return x, mean, aten.full.default(size, math.nan, dtype=x.dtype, device=x.device)
    var, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    rstd = aten.rsqrt(var + eps)
    return (x - mean) * rstd, mean, rstd


def _statistics_dtype(input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None) -> torch.dtype:
    """On the CPU the saved statistics have the parameters' dtype where it is wider than the input's."""
    if input.device.type != "cpu":
        return widened(input).dtype
    given = next((t for t in (weight, bias) if t is not None), input)
    return input.dtype if given.dtype == input.dtype else torch.float32


@TABLE.register("aten::native_layer_norm")
def native_layer_norm(
    input: torch.Tensor,
    normalized_shape: Sequence[Any],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    result, mean, rstd = _standardised(widened(input.contiguous()), dims, eps)
    if weight is not None:
        result = result * widened(weight)
    if bias is not None:
        result = result + widened(bias)
    dtype = _statistics_dtype(input, weight, bias)
    return result.to(input.dtype), mean.to(dtype), rstd.to(dtype)


@TABLE.register("aten::native_group_norm")
def native_group_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    N: Any,
    C: Any,
    HxW: Any,
    group: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, ...)

    Args:
        input: (N, C, ...), or any shape of as many elements.
    """
    grouped = aten.reshape(widened(input), [N, group, C // group, HxW])
    result, mean, rstd = _standardised(grouped, [2, 3], eps)
    if weight is not None:
        result = result * widened(aten.reshape(weight, [1, group, C // group, 1]))
    if bias is not None:
        result = result + widened(aten.reshape(bias, [1, group, C // group, 1]))
    result = aten.reshape(result, input.shape).to(input.dtype)
    for layout in (torch.channels_last, torch.channels_last_3d):
        if input.dim() == (4 if layout is torch.channels_last else 5) and _is_only(input, layout):
            result = aten.clone(result, memory_format=layout)
    dtype = _statistics_dtype(input, weight, bias)
    return result, aten.reshape(mean, [N, group]).to(dtype), aten.reshape(rstd, [N, group]).to(dtype)


def _is_only(tensor: torch.Tensor, layout: torch.memory_format) -> bool:
    """Whether a tensor has a layout and is not contiguous as well."""
    return tensor.is_contiguous(memory_format=layout) and not tensor.is_contiguous()


def _others(tensor: torch.Tensor, dim: int) -> list[int]:
    return [d for d in range(tensor.dim()) if d != dim % tensor.dim()]


@TABLE.register("aten::_weight_norm_interface")
def _weight_norm_interface(v: torch.Tensor, g: torch.Tensor, dim: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)

    The norms have the shape of g, which may lack the dimensions of size 1.
    """
    wide = widened(v)
    norms = aten.sqrt(aten.sum.dim_IntList(wide * wide, _others(v, dim), True))
    if g.dim() == v.dim():
        return (wide * (widened(g) / norms)).to(v.dtype), norms
    factors = aten.reshape(widened(g), norms.shape) / norms
    return (wide * factors).to(v.dtype), aten.reshape(norms, g.shape)


@TABLE.register("aten::_weight_norm_interface_backward")
def _weight_norm_interface_backward(
    grad_w: torch.Tensor, saved_v: torch.Tensor, saved_g: torch.Tensor, saved_norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)"""
    grad, v, g, norms = widened(grad_w), widened(saved_v), widened(saved_g), widened(saved_norms)
    along = aten.sum.dim_IntList(grad * v, _others(v, dim), True)
    grad_v = g / norms * (grad - v * (along / (norms * norms)))
    return grad_v.to(saved_v.dtype), (along / norms).to(saved_g.dtype)
