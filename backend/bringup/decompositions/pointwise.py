"""Elementwise operators: integer promotion, and functions that are one formula of smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import OpOverload, find_overload

TABLE = Decompositions("pointwise")
aten = torch.ops.aten

_FLOAT_UNARY = (
    "exp log log2 log10 log1p expm1 sqrt rsqrt sigmoid sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "erf erfc erfinv lgamma digamma"
)


def is_integral(dtype: torch.dtype) -> bool:
    """Whether a dtype is an integer or bool."""
    return not dtype.is_floating_point and not dtype.is_complex


def _promoted(overload: OpOverload) -> Callable[[torch.Tensor], torch.Tensor]:
    def promote(self: torch.Tensor) -> Any:
        if not is_integral(self.dtype):
            return NotImplemented
        return overload(aten._to_copy(self, dtype=torch.get_default_dtype()))

    return promote


def _add_promotions() -> None:
    for name in _FLOAT_UNARY.split():
        overload = find_overload(f"aten::{name}")
        if overload is not None:
            TABLE.add(overload, _promoted(overload))


_add_promotions()


@TABLE.register("aten::reciprocal")
def reciprocal(self: torch.Tensor) -> torch.Tensor:
    """reciprocal(Tensor self) -> Tensor"""
    return torch.div(torch.ones((), dtype=self.dtype, device=self.device), self)


@TABLE.register("aten::sign")
def sign(self: torch.Tensor) -> Any:
    """sign(Tensor self) -> Tensor

    The sign of a truth value is itself.
    """
    return aten.clone(self) if self.dtype == torch.bool else NotImplemented


@TABLE.register("aten::copysign.Tensor")
def copysign(self: torch.Tensor, other: torch.Tensor) -> Any:
    """copysign.Tensor(Tensor self, Tensor other) -> Tensor"""
    if self.dtype != torch.bool and other.dtype != torch.bool:
        return NotImplemented
    dtype = torch.result_type(self, other)
    dtype = torch.get_default_dtype() if is_integral(dtype) else dtype
    return aten.copysign.Tensor(aten._to_copy(self, dtype=dtype), aten._to_copy(other, dtype=dtype))


@TABLE.register("aten::signbit")
def signbit(self: torch.Tensor) -> torch.Tensor:
    """signbit(Tensor self) -> Tensor

    The sign of copysign(1, self), which negative zeros and NaN have too.
    """
    if self.dtype == torch.bool:
        return aten.full_like(self, False)
    if is_integral(self.dtype):
        return aten.lt.Scalar(self, 0)
    one = aten.full.default([], 1.0, dtype=self.dtype, device=self.device)
    return aten.lt.Scalar(aten.copysign.Tensor(one, self), 0)


@TABLE.register("aten::exp2")
def exp2(self: torch.Tensor) -> torch.Tensor:
    """exp2(Tensor self) -> Tensor

    A power of two, rather than exp(x log 2), whose relative error grows with |x|.
    """
    dtype = torch.get_default_dtype() if is_integral(self.dtype) else self.dtype
    two = aten.full.default([], 2.0, dtype=dtype, device=self.device)
    return aten.pow.Tensor_Tensor(two, self if self.dtype == dtype else aten._to_copy(self, dtype=dtype))


def _prefer_numbers(
    extreme: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], self: torch.Tensor, other: torch.Tensor
) -> torch.Tensor:
    """The larger or smaller of two, and the other one where one of them is NaN."""
    result = extreme(self, other)
    if is_integral(result.dtype):
        return result
    return torch.where(torch.isnan(other), self, torch.where(torch.isnan(self), other, result))


@TABLE.register("aten::fmax")
def fmax(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """fmax(Tensor self, Tensor other) -> Tensor"""
    return _prefer_numbers(torch.maximum, self, other)


@TABLE.register("aten::fmin")
def fmin(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """fmin(Tensor self, Tensor other) -> Tensor"""
    return _prefer_numbers(torch.minimum, self, other)


@TABLE.register("aten::heaviside")
def heaviside(self: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """heaviside(Tensor self, Tensor values) -> Tensor

    0 below zero and at NaN, `values` at zero, 1 above.
    """
    step = aten._to_copy(aten.gt.Scalar(self, 0), dtype=self.dtype)
    return aten.where.self(aten.eq.Scalar(self, 0), values, step)


@TABLE.register("aten::hypot")
def hypot(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """hypot(Tensor self, Tensor other) -> Tensor

    m sqrt(1 + (n / m)^2) with m the larger and n the smaller absolute value: nothing overflows that the result does not.
    An infinite operand makes it infinite even beside NaN (C99 7.12.7.3).
    """
    dtype = torch.result_type(self, other)
    wide = accumulation_dtype(dtype)
    a, b = torch.abs(self.to(wide)), torch.abs(other.to(wide))
    larger, smaller = torch.maximum(a, b), torch.minimum(a, b)
    infinite = (a == float("inf")) | (b == float("inf"))
    ratio = torch.where(larger == 0, larger, smaller / larger)
    result = torch.where(infinite, float("inf"), larger * torch.sqrt(ratio * ratio + 1))
    return result.to(dtype)


_LAYOUT = {
    torch.float32: (torch.int32, 23, 8),
    torch.float64: (torch.int64, 52, 11),
}  # IEEE 754: fraction, exponent bits


@TABLE.register("aten::frexp.Tensor")
def frexp(self: torch.Tensor) -> Any:
    """frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)

    Read from the bits of the format (IEEE 754-2019, 3.4). Subnormal numbers are scaled to normal ones first;
    zeros, infinities and NaN have exponent 0 and are their own mantissa.
    """
    if self.dtype in (torch.float16, torch.bfloat16):
        mantissa, exponent = frexp(self.to(torch.float32))
        return mantissa.to(self.dtype), exponent
    if self.dtype not in _LAYOUT:
        return NotImplemented
    integer, fraction, width = _LAYOUT[self.dtype]
    bias, ones = 2 ** (width - 1) - 2, 2**width - 1
    small = torch.abs(self) < torch.finfo(self.dtype).tiny
    normal = torch.where(small, self * 2.0 ** (fraction + 1), self)
    bits = aten.view.dtype(normal, integer)
    field = (bits >> fraction) & ones
    mantissa = aten.view.dtype((bits & ~(ones << fraction)) | (bias << fraction), self.dtype)
    exponent = field - bias - torch.where(small, fraction + 1, 0)
    itself = (self == 0) | (field == ones)
    return torch.where(itself, self, mantissa), torch.where(itself, 0, exponent).to(torch.int32)


@TABLE.register("aten::__lshift__.Tensor")
def lshift(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """__lshift__.Tensor(Tensor self, Tensor other) -> Tensor"""
    return aten.bitwise_left_shift.Tensor(self, other)


@TABLE.register("aten::__rshift__.Tensor")
def rshift(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """__rshift__.Tensor(Tensor self, Tensor other) -> Tensor"""
    return aten.bitwise_right_shift.Tensor(self, other)


@TABLE.register("aten::_add_relu.Tensor")
def add_relu(self: torch.Tensor, other: torch.Tensor, *, alpha: Any = 1) -> torch.Tensor:
    """_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""
    return torch.relu(torch.add(self, other, alpha=alpha))


@TABLE.register("aten::_masked_scale")
def masked_scale(self: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """_masked_scale(Tensor self, Tensor mask, float scale) -> Tensor"""
    return (self * mask.to(self.dtype)) * scale


@TABLE.register("aten::ldexp.Tensor")
def ldexp(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """ldexp.Tensor(Tensor self, Tensor other) -> Tensor

    self 2^other. An integer exponent of a float is applied in three parts, none of which overflows where the result
    does not; of an integer in one, as in eager.
    """
    promoted = torch.result_type(self, other)
    dtype = torch.get_default_dtype() if is_integral(promoted) else promoted
    wide = accumulation_dtype(dtype)
    two, x = aten.full.default([], 2.0, dtype=wide, device=self.device), self.to(wide)
    if is_integral(self.dtype) or not is_integral(other.dtype) or wide.is_complex:
        return (x * aten.pow.Tensor_Tensor(two, other.to(wide))).to(dtype)
    limit = 300 if wide is torch.float32 else 2200  # beyond it, any x has become zero or infinite
    exponent = torch.clamp(other.to(torch.int64), -limit, limit)
    third = torch.div(exponent, 3, rounding_mode="trunc")
    factor, last = (aten.pow.Tensor_Tensor(two, e.to(wide)) for e in (third, exponent - 2 * third))
    return (x * factor * factor * last).to(dtype)
