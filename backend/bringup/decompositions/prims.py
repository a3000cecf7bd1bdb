"""PyTorch's elementwise prims, which its reference decompositions end in, onto the required kernels.

A prim neither promotes nor broadcasts; its operands have one dtype and shape, or are Python numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.rules import scalar_as_tensor
from bringup.torch_internals import load_prims

TABLE = Decompositions("prims")
aten = torch.ops.aten
load_prims()

_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil clone cos cosh digamma erf erfc exp exp2 expm1 floor isfinite lgamma "
    "log log10 log1p log2 neg reciprocal round rsqrt sign signbit sin sinh sqrt tan tanh trunc"
)
_BINARY = (
    "atan2 bitwise_and bitwise_or bitwise_xor eq fmax fmin fmod gcd ge gt hypot igamma igammac le lt maximum minimum ne "
    "nextafter remainder"
)
_RENAMED = {
    "erf_inv": "erfinv",
    "conj_physical": "_conj_physical",
    "bessel_i0": "i0",
    "bessel_i0e": "special_i0e",
    "bessel_i1": "special_i1",
    "bessel_i1e": "special_i1e",
    "bessel_j0": "special_bessel_j0",
    "bessel_j1": "special_bessel_j1",
    "spherical_bessel_j0": "special_spherical_bessel_j0",
    "erfcx": "special_erfcx",
    "ndtri": "special_ndtri",
}
_RENAMED_BINARY = {
    "pow": "pow",
    "zeta": "special_zeta",
    "shift_left": "bitwise_left_shift",
    "shift_right_arithmetic": "bitwise_right_shift",
}


def _tensor(value: Any, *others: Any) -> torch.Tensor:
    """A number as a 0-dim tensor that promotes with the tensor among `others` as the number would."""
    if isinstance(value, torch.Tensor):
        return value
    like = next(o for o in others if isinstance(o, torch.Tensor))
    return scalar_as_tensor(value, like)


def _unary(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def apply(self: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return function(self, **kwargs)

    return apply


def _binary(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def apply(self: Any, other: Any) -> torch.Tensor:
        return function(_tensor(self, other), _tensor(other, self))

    return apply


def _add_elementwise() -> None:
    for name, target in {**{n: n for n in _UNARY.split()}, **_RENAMED}.items():
        TABLE.register(f"prims::{name}")(_unary(getattr(aten, target)))
    for name, target in {**{n: n for n in _BINARY.split()}, **_RENAMED_BINARY}.items():
        TABLE.register(f"prims::{name}")(_binary(getattr(aten, target)))


_add_elementwise()


@TABLE.register("prims::add")
def add(self: Any, other: Any) -> torch.Tensor:
    """add(Tensor self, Tensor other) -> Tensor"""
    return aten.add.Tensor(_tensor(self, other), other)


@TABLE.register("prims::sub")
def sub(self: Any, other: Any) -> torch.Tensor:
    """sub(Tensor self, Tensor other) -> Tensor"""
    return aten.sub.Tensor(_tensor(self, other), other)


@TABLE.register("prims::mul")
def mul(self: Any, other: Any) -> torch.Tensor:
    """mul(Tensor self, Tensor other) -> Tensor"""
    return aten.mul.Tensor(_tensor(self, other), other)


@TABLE.register("prims::div")
def div(self: Any, other: Any) -> torch.Tensor:
    """div(Tensor self, Tensor other) -> Tensor

    Integers are divided with truncation, as in C.
    """
    left = _tensor(self, other)
    if left.dtype.is_floating_point or left.dtype.is_complex:
        return aten.div.Tensor(left, other)
    return aten.div.Tensor_mode(left, other, rounding_mode="trunc")


@TABLE.register("prims::where")
def where(pred: torch.Tensor, a: Any, b: Any) -> torch.Tensor:
    """where(Tensor pred, Tensor a, Tensor b) -> Tensor"""
    if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
        dtype = torch.result_type(a, b)
        a, b = (aten.full.default([], v, dtype=dtype, device=pred.device) for v in (a, b))
    return aten.where.self(pred, _tensor(a, b), _tensor(b, a))


@TABLE.register("prims::cbrt")
def cbrt(self: torch.Tensor) -> torch.Tensor:
    """cbrt(Tensor self) -> Tensor"""
    return torch.sign(self) * torch.pow(torch.abs(self), 1.0 / 3.0)


@TABLE.register("prims::frexp")
def frexp(self: torch.Tensor) -> Any:
    """frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)"""
    return aten.frexp.Tensor(self)


@TABLE.register_later("prims::fma")
def fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """fma(Tensor a, Tensor b, Tensor c) -> Tensor

    a b + c. It comes with PyTorch's inductor, which Dynamo loads where it captures ``addcmul_``, as compiled optimizers do; a device that
    rounds once may have a kernel of it, the host rounds the product too.
    """
    return a * b + c
