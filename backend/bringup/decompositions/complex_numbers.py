"""Complex arithmetic and the parts of complex numbers.

A conjugate or negated view becomes a value of its own: no tensor of a program carries a conjugate or a negative bit.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("complex_numbers")
aten = torch.ops.aten


def as_real(self: torch.Tensor) -> torch.Tensor:
    """The pairs of real numbers of a complex tensor.

    An input or a tangent of a graph may carry a conjugate bit, which clone resolves.
    """
    return aten.view_as_real(aten.clone(self) if self.is_conj() else self)


@TABLE.register("aten::_conj_physical", "aten::_conj", "aten::_conj_copy")
def _conj(self: torch.Tensor | complex) -> torch.Tensor:
    """_conj(Tensor(a) self) -> Tensor(a)

    Autograd hands over a Python number where the forward multiplied by one.
    """
    if not isinstance(self, torch.Tensor):
        dtype = torch.promote_types(torch.get_default_dtype(), torch.complex64) if isinstance(self, complex) else None
        return aten.full.default([], self.conjugate(), dtype=dtype)
    if not self.is_complex():
        return aten.view(self, self.shape) if self.is_contiguous() else aten.clone(self)
    parts = as_real(self)
    index = aten.arange(2, dtype=parts.dtype, device=self.device)
    return aten.view_as_complex(parts * (1 - 2 * index))


@TABLE.register("aten::_neg_view", "aten::_neg_view_copy")
def _neg_view(self: torch.Tensor) -> torch.Tensor:
    """_neg_view(Tensor(a) self) -> Tensor(a)"""
    return aten.neg(self)


@TABLE.register("aten::view_as_real_copy")
def view_as_real_copy(self: torch.Tensor) -> torch.Tensor:
    """view_as_real_copy(Tensor self) -> Tensor"""
    return aten.clone(aten.view_as_real(self), memory_format=torch.contiguous_format)


@TABLE.register("aten::view_as_complex_copy")
def view_as_complex_copy(self: torch.Tensor) -> torch.Tensor:
    """view_as_complex_copy(Tensor self) -> Tensor"""
    return aten.clone(aten.view_as_complex(self), memory_format=torch.contiguous_format)


def parts_of(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The real and the imaginary part of a complex tensor, as views."""
    parts = as_real(self)
    return aten.select(parts, -1, 0), aten.select(parts, -1, 1)


@TABLE.register("aten::complex")
def complex_(real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
    """complex(Tensor real, Tensor imag) -> Tensor"""
    real, imag = torch.broadcast_tensors(real, imag)
    return aten.view_as_complex(aten.cat([aten.unsqueeze(real, -1), aten.unsqueeze(imag, -1)], -1))


@TABLE.register("aten::polar")
def polar(abs: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """polar(Tensor abs, Tensor angle) -> Tensor"""
    return complex_(abs * aten.cos(angle), abs * aten.sin(angle))


@TABLE.register("aten::angle")
def angle(self: torch.Tensor) -> torch.Tensor:
    """angle(Tensor self) -> Tensor

    A real number's angle is 0 or pi; NaN stays NaN.
    """
    if self.is_complex():
        real, imag = parts_of(self)
        return aten.atan2(imag, real)
    dtype = self.dtype if self.is_floating_point() else torch.get_default_dtype()
    if self.dtype == torch.bool:
        return torch.zeros(self.shape, dtype=dtype, device=self.device)
    values = aten._to_copy(self, dtype=dtype) if dtype != self.dtype else self
    zero = torch.zeros((), dtype=dtype, device=self.device)
    pi = torch.full((), math.pi, dtype=dtype, device=self.device)
    return torch.where(values != values, values, torch.where(values < 0, pi, zero))


@TABLE.register("aten::sgn")
def sgn(self: torch.Tensor) -> Any:
    """sgn(Tensor self) -> Tensor

    z / |z|, and 0 at 0.
    """
    if not self.is_complex():
        return aten.sign(self)
    size = aten.abs(self)
    zero = size == 0
    unit = self / torch.where(zero, torch.ones((), dtype=size.dtype, device=self.device), size)
    return torch.where(zero, torch.zeros((), dtype=self.dtype, device=self.device), unit)
