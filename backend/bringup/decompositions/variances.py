"""Variances and standard deviations, in two passes: the mean, then the mean square of what is left (Chan, Golub and LeVeque 1983)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("variances")
aten = torch.ops.aten

Dims = Sequence[int] | None


def _moments(self: torch.Tensor, dim: Dims, correction: Any, keepdim: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Variance (real) and mean, half precision in float32."""
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    wide = accumulation_dtype(self.dtype)
    values = aten._to_copy(self, dtype=wide) if wide is not self.dtype else self
    dims = sorted({d % self.dim() for d in dim}) if dim and self.dim() else list(range(self.dim()))
    count = math.prod(self.shape[d] for d in dims)
    freedom = count - (1 if correction is None else correction)
    freedom = torch.sym_max(freedom, 0) if isinstance(freedom, (torch.SymInt, torch.SymFloat)) else max(freedom, 0)
    zero_dim = self.dim() == 0
    mean = values / count if zero_dim else aten.sum.dim_IntList(values, dims, True) / count
    left = values - mean
    if left.is_complex():
        parts = aten.view_as_real(left)
        square = aten.select(parts, -1, 0) ** 2 + aten.select(parts, -1, 1) ** 2
    else:
        square = left * left
    if not zero_dim:
        square = aten.sum.dim_IntList(square, dims, keepdim)
        mean = mean if keepdim else aten.squeeze.dims(mean, dims)
    # a tensor divides by zero as eager does; a Python number would raise
    divisor = aten.full.default([], freedom, dtype=square.dtype, device=self.device)
    return square / divisor, mean


def _real(self: torch.Tensor) -> torch.dtype:
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(self.dtype, self.dtype)


@TABLE.register("aten::var.correction")
def var(self: torch.Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False) -> torch.Tensor:
    """var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"""
    return aten._to_copy(_moments(self, dim, correction, keepdim)[0], dtype=_real(self))


@TABLE.register("aten::std.correction")
def std(self: torch.Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False) -> torch.Tensor:
    """std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"""
    return aten._to_copy(torch.sqrt(_moments(self, dim, correction, keepdim)[0]), dtype=_real(self))


@TABLE.register("aten::var_mean.correction")
def var_mean(
    self: torch.Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"""
    variance, mean = _moments(self, dim, correction, keepdim)
    return aten._to_copy(variance, dtype=_real(self)), aten._to_copy(mean, dtype=self.dtype)


@TABLE.register("aten::std_mean.correction")
def std_mean(
    self: torch.Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"""
    variance, mean = _moments(self, dim, correction, keepdim)
    return aten._to_copy(torch.sqrt(variance), dtype=_real(self)), aten._to_copy(mean, dtype=self.dtype)
