"""Ranges with both ends, evenly spaced integers, and zeros that autograd makes for itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("ranges")
aten = torch.ops.aten


@TABLE.register("aten::range.step")
def range_step(
    start: Any, end: Any, step: Any = 1, *, dtype: torch.dtype | None = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype, ...) -> Tensor

    Both ends belong to the range: floor((end - start) / step) + 1 elements.
    """
    dtype = dtype or torch.get_default_dtype()
    if dtype.is_floating_point:
        count = math.floor((end - start) / step) + 1
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        values = aten.arange.start_step(0, count, 1, dtype=wide, device=device) * step + start
        return values if wide is dtype else aten._to_copy(values, dtype=dtype)
    count = (int(end) - int(start)) // int(step) + 1
    return aten._to_copy(aten.arange.start_step(0, count, 1, device=device) * int(step) + int(start), dtype=dtype)


@TABLE.register("aten::range")
def range_(start: Any, end: Any, *, dtype: torch.dtype | None = None, device: Any = None, **_: Any) -> torch.Tensor:
    """range(Scalar start, Scalar end, *, ScalarType? dtype, ...) -> Tensor"""
    return range_step(start, end, 1, dtype=dtype, device=device)


@TABLE.register(
    "aten::linspace", "aten::linspace.Tensor_Tensor", "aten::linspace.Tensor_Scalar", "aten::linspace.Scalar_Tensor"
)
def linspace(
    start: Any, end: Any, steps: Any, *, dtype: torch.dtype | None = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype, ...) -> Tensor

    The step is (end - start) / (steps - 1) and each half is counted from its own end. For an integer dtype the ends
    become integers first, the step is in double precision, and the fraction of each element is dropped.
    """
    dtype = dtype or _default_dtype(start, end)
    whole = not (dtype.is_floating_point or dtype.is_complex)
    wide = _counting_dtype(dtype)
    held = wide.to_complex() if dtype.is_complex else wide
    start, end = (_limit(value, held, whole=whole) for value in (start, end))
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    index = aten._to_copy(aten.arange.start_step(0, steps, 1, device=device), dtype=wide)
    upwards = index * step + start
    if steps == 1:
        values = upwards
    else:
        downwards = end - (steps - 1 - index) * step
        values = aten.where.self(aten.lt.Scalar(index, steps // 2), upwards, downwards)
    values = aten.trunc.default(values) if whole else values
    return values if values.dtype is dtype else aten._to_copy(values, dtype=dtype)


def _limit(value: Any, dtype: torch.dtype, *, whole: bool) -> Any:
    """An end of a range, a number or a tensor of one element, as it is counted with."""
    if isinstance(value, torch.Tensor):
        value = aten._to_copy(value, dtype=dtype)
        return aten.trunc.default(value) if whole else value
    return torch.sym_int(value) if whole else value


def _default_dtype(*limits: Any) -> torch.dtype:
    plain = torch.get_default_dtype()
    complex_ = any(v.is_complex() if isinstance(v, torch.Tensor) else isinstance(v, complex) for v in limits)
    return plain.to_complex() if complex_ else plain


def _counting_dtype(dtype: torch.dtype) -> torch.dtype:
    """What holds the index of an element of `dtype` next to its value: half precision would round it."""
    exact = dtype in (torch.float64, torch.complex128) or not (dtype.is_floating_point or dtype.is_complex)
    return torch.float64 if exact else torch.float32


@TABLE.register("aten::_efficientzerotensor")
def _efficientzerotensor(
    size: Sequence[Any], *, dtype: torch.dtype | None = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """_efficientzerotensor(SymInt[] size, *, ScalarType? dtype, ...) -> Tensor"""
    return aten.full.default(size, 0, dtype=dtype or torch.get_default_dtype(), device=device)


@TABLE.register("aten::_new_zeros_with_same_feature_meta")
def _new_zeros_with_same_feature_meta(
    self: torch.Tensor, other: torch.Tensor, *, self_num_batch_dims: int = 0
) -> torch.Tensor:
    """_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor"""
    size = [*self.shape[:self_num_batch_dims], *other.shape]
    return aten.full.default(size, 0, dtype=other.dtype, device=other.device)
