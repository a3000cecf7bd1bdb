"""Products of matrices and vectors as ``mm`` and ``bmm``."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decomposition, Decompositions

TABLE = Decompositions("linalg_products")
aten = torch.ops.aten

Number = int | float | complex | bool  # a Scalar of the schemas


def _combine(self: torch.Tensor, product: torch.Tensor, beta: Number, alpha: Number) -> torch.Tensor:
    """beta * self + alpha * product; `self` is not read where beta is 0, as BLAS promises."""
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    return (self if beta == 1 else self * beta) + scaled


def _truncated(factor: Number) -> int:
    return int(factor.real)


def _to(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor if tensor.dtype == dtype else aten._to_copy(tensor, dtype=dtype)


def _accumulated(
    self: torch.Tensor, left: torch.Tensor, right: torch.Tensor, beta: Number, alpha: Number, product: Any
) -> torch.Tensor:
    """beta * self + alpha * (left @ right), rounded once."""
    if not left.dtype.is_floating_point and not left.dtype.is_complex:
        beta, alpha = _truncated(beta), _truncated(alpha)  # eager's integer kernels truncate the factors
    wide = accumulation_dtype(self.dtype)
    result = _combine(_to(self, wide), product(_to(left, wide), _to(right, wide)), beta, alpha)
    return _to(result, left.dtype)


@TABLE.register("aten::addmm")
def addmm(
    self: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, *, beta: Number = 1, alpha: Number = 1
) -> torch.Tensor:
    """addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""
    return _accumulated(self, mat1, mat2, beta, alpha, aten.mm)


@TABLE.register("aten::baddbmm")
def baddbmm(
    self: torch.Tensor, batch1: torch.Tensor, batch2: torch.Tensor, *, beta: Number = 1, alpha: Number = 1
) -> torch.Tensor:
    """baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""
    return _accumulated(self, batch1, batch2, beta, alpha, aten.bmm)


@TABLE.register("aten::addbmm")
def addbmm(
    self: torch.Tensor, batch1: torch.Tensor, batch2: torch.Tensor, *, beta: Number = 1, alpha: Number = 1
) -> torch.Tensor:
    """addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    A sum of products is one product of the matrices laid side by side.
    """
    batches, rows, inner = batch1.shape
    left = aten.permute(batch1, [1, 0, 2]).reshape(rows, batches * inner)
    right = batch2.reshape(batches * inner, batch2.shape[2])
    return _accumulated(self, left, right, beta, alpha, aten.mm)


def _add_in_dtype(name: str, product: Decomposition, sum_name: str, summed: Decomposition) -> None:
    """A product, and beta * self + alpha * it, of operands in the dtype of the result."""

    @TABLE.register(f"aten::{name}.dtype")
    def product_in(self: torch.Tensor, mat2: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
        """mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor"""
        return product(_to(self, out_dtype), _to(mat2, out_dtype))

    @TABLE.register(f"aten::{sum_name}.dtype")
    def summed_in(
        self: torch.Tensor,
        left: torch.Tensor,
        right: torch.Tensor,
        out_dtype: torch.dtype,
        *,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> torch.Tensor:
        """addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""
        return summed(_to(self, out_dtype), _to(left, out_dtype), _to(right, out_dtype), beta=beta, alpha=alpha)


_add_in_dtype("mm", aten.mm, "addmm", addmm)
_add_in_dtype("bmm", aten.bmm, "baddbmm", baddbmm)


@TABLE.register("aten::_int_mm")
def _int_mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """_int_mm(Tensor self, Tensor mat2) -> Tensor"""
    return aten.mm(_to(self, torch.int32), _to(mat2, torch.int32))


@TABLE.register("aten::_weight_int8pack_mm")
def _weight_int8pack_mm(self: torch.Tensor, mat2: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor"""
    wide = accumulation_dtype(self.dtype)
    product = aten.mm(_to(self, wide), aten.permute(_to(mat2, wide), [1, 0]))
    return _to(product * _to(scales, wide), self.dtype)


@TABLE.register("aten::mv")
def mv(self: torch.Tensor, vec: torch.Tensor) -> torch.Tensor:
    """mv(Tensor self, Tensor vec) -> Tensor"""
    return aten.squeeze(aten.mm(self, aten.unsqueeze(vec, 1)), [1])


@TABLE.register("aten::addmv")
def addmv(
    self: torch.Tensor, mat: torch.Tensor, vec: torch.Tensor, *, beta: Number = 1, alpha: Number = 1
) -> torch.Tensor:
    """addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""
    return _accumulated(self, mat, vec, beta, alpha, mv)


@TABLE.register("aten::dot")
def dot(self: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """dot(Tensor self, Tensor tensor) -> Tensor"""
    return aten.squeeze(aten.mm(aten.unsqueeze(self, 0), aten.unsqueeze(tensor, 1)), [0, 1])


@TABLE.register("aten::vdot")
def vdot(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """vdot(Tensor self, Tensor other) -> Tensor"""
    return dot(aten._conj_physical(self) if self.is_complex() else self, other)


@TABLE.register("aten::_trilinear")
def _trilinear(
    i1: torch.Tensor,
    i2: torch.Tensor,
    i3: torch.Tensor,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> torch.Tensor:
    """_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor

    The sum over `sumdim` of the three operands' product, each unsqueezed at its `expand`: Einstein's sum of three.
    """
    letters = ascii_letters[: i1.dim() + len(expand1)]
    terms = ["".join(c for i, c in enumerate(letters) if i not in expanded) for expanded in (expand1, expand2, expand3)]
    kept = "".join(c for i, c in enumerate(letters) if i not in sumdim)
    return torch.einsum(f"{','.join(terms)}->{kept}", i1, i2, i3)
