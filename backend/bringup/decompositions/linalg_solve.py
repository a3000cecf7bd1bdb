"""Solvers, inverses and determinants from factors."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.linalg_factor import adjoint as conjugate_transpose
from bringup.decompositions.linalg_factor import identity, inverse_order, permutation, take_rows
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("linalg_solve")
aten = torch.ops.aten


def broadcast_batches(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two stacks of matrices with their batch dimensions broadcast."""
    batch = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return aten.expand(left, [*batch, *left.shape[-2:]]), aten.expand(right, [*batch, *right.shape[-2:]])


@TABLE.register("aten::triangular_solve")
def triangular_solve(
    self: torch.Tensor, A: torch.Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)"""
    matrix, right = broadcast_batches(A, self)
    turned = aten.transpose(matrix, -2, -1) if transpose else matrix
    solution = aten.linalg_solve_triangular(turned, right, upper=upper != transpose, unitriangular=unitriangular)
    return solution, aten.clone(matrix, memory_format=torch.contiguous_format)


@TABLE.register("aten::cholesky_solve", "aten::_cholesky_solve_helper")
def cholesky_solve(self: torch.Tensor, input2: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor"""
    factor, right = broadcast_batches(input2, self)
    turned = conjugate_transpose(factor)
    lower, higher = (turned, factor) if upper else (factor, turned)
    inner = aten.linalg_solve_triangular(lower, right, upper=False)
    return aten.linalg_solve_triangular(higher, inner, upper=True)


@TABLE.register("aten::cholesky_inverse")
def cholesky_inverse(self: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """cholesky_inverse(Tensor self, bool upper=False) -> Tensor

    With A = L L^H, the inverse is M^H M where M = L^-1.
    """
    ones = aten.expand(identity(self.shape[-2], self.shape[-1], self), self.shape)
    inverse = aten.linalg_solve_triangular(self, ones, upper=upper)
    return (
        aten.matmul(inverse, conjugate_transpose(inverse))
        if upper
        else aten.matmul(conjugate_transpose(inverse), inverse)
    )


@TABLE.register("aten::linalg_lu_solve")
def linalg_lu_solve(
    LU: torch.Tensor, pivots: torch.Tensor, B: torch.Tensor, *, left: bool = True, adjoint: bool = False
) -> torch.Tensor:
    """linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor

    X A = B is A^H X^H = B^H.
    """
    if not left:
        return conjugate_transpose(_lu_solve(LU, pivots, conjugate_transpose(B), not adjoint))
    return _lu_solve(LU, pivots, B, adjoint)


def _lu_solve(lu: torch.Tensor, pivots: torch.Tensor, right: torch.Tensor, adjoint_: bool) -> torch.Tensor:
    """A = P L U, so that A X = B is U X = L^-1 P^T B, and A^H X = B is X = P L^-H U^-H B."""
    factors, right = broadcast_batches(lu, right)
    order = permutation(pivots, lu.shape[-1])
    order = aten.expand(order, [*factors.shape[:-2], lu.shape[-1]])
    if not adjoint_:
        lower = aten.linalg_solve_triangular(factors, take_rows(right, order), upper=False, unitriangular=True)
        return aten.linalg_solve_triangular(factors, lower, upper=True)
    turned = conjugate_transpose(factors)
    inner = aten.linalg_solve_triangular(turned, right, upper=False)
    solution = aten.linalg_solve_triangular(turned, inner, upper=True, unitriangular=True)
    return take_rows(solution, inverse_order(order))


@TABLE.register("aten::_linalg_solve_ex")
def _linalg_solve_ex(A: torch.Tensor, B: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)"""
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:-1])
    right = aten.unsqueeze(B, -1) if vector else B
    lu, pivots, info = aten.linalg_lu_factor_ex(A)
    if check_errors:
        aten._linalg_check_errors(info, "torch.linalg.solve_ex", is_matrix=A.dim() == 2)
    result = linalg_lu_solve(lu, pivots, right, left=left)
    return aten.squeeze(result, [-1]) if vector else result, lu, pivots, info


@TABLE.register("aten::linalg_inv_ex")
def linalg_inv_ex(A: torch.Tensor, *, check_errors: bool = False) -> Any:
    """linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)"""
    lu, pivots, info = aten.linalg_lu_factor_ex(A)
    if check_errors:
        aten._linalg_check_errors(info, "linalg.inv_ex", is_matrix=A.dim() == 2)
    return _lu_solve(lu, pivots, identity(A.shape[-2], A.shape[-1], A), False), info


def _lu(A: torch.Tensor) -> Any:
    """The LU factors that the formula of a determinant's gradient expects: those of the transpose of a contiguous real matrix."""
    return aten.linalg_lu_factor_ex(aten.transpose(A, -2, -1) if A.is_contiguous() and not A.is_complex() else A)


def _parity(pivots: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The determinant of the row interchanges: -1 to the number of true swaps."""
    own = aten.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    swapped = aten.sum(aten._to_copy(pivots != own, dtype=torch.int64), [-1])
    return aten._to_copy(1 - 2 * (swapped % 2), dtype=dtype)


@TABLE.register("aten::_linalg_det")
def _linalg_det(A: torch.Tensor) -> Any:
    """_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)"""
    lu, pivots, _ = _lu(A)
    return aten.prod(aten.diagonal(lu, 0, -2, -1), -1) * _parity(pivots, A.dtype), lu, pivots


@TABLE.register("aten::_linalg_slogdet")
def _linalg_slogdet(A: torch.Tensor) -> Any:
    """_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)"""
    lu, pivots, _ = _lu(A)
    diagonal = aten.diagonal(lu, 0, -2, -1)
    sign = aten.prod(aten.sgn(diagonal), -1) * _parity(pivots, A.dtype)
    return sign, aten.sum(aten.log(aten.abs(diagonal)), [-1]), lu, pivots


@TABLE.register("aten::linalg_pinv.atol_rtol_tensor")
def linalg_pinv(
    self: torch.Tensor, *, atol: torch.Tensor | None = None, rtol: torch.Tensor | None = None, hermitian: bool = False
) -> torch.Tensor:
    """linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor

    Singular values up to max(atol, rtol * the largest) count as zero; Golub and Van Loan, Matrix Computations, chapter 5.
    """
    rows, columns = self.shape[-2:]
    if self.numel() == 0:
        return aten.full.default([*self.shape[:-2], columns, rows], 0, dtype=self.dtype, device=self.device)
    if hermitian:
        values, left = aten._linalg_eigh(self)
        right, sizes = conjugate_transpose(left), aten.abs(values)
    else:
        left, values, right = aten._linalg_svd(self)
        sizes = values
    kept = sizes > _tolerance(self, atol, rtol, aten.amax(sizes, [-1], True))
    one, zero = (aten.full.default([], v, dtype=values.dtype, device=self.device) for v in (1, 0))
    inverse = aten.where(kept, one / aten.where(kept, values, one), zero)
    return aten.matmul(conjugate_transpose(right) * aten.unsqueeze(inverse, -2), conjugate_transpose(left))


def _tolerance(
    self: torch.Tensor, atol: torch.Tensor | None, rtol: torch.Tensor | None, largest: torch.Tensor
) -> torch.Tensor:
    """The largest value that counts as zero; the default is relative, or none where an absolute one is given."""
    if rtol is None:
        default = torch.finfo(self.dtype).eps * max(self.shape[-2:])
        rtol = aten.full.default([], default, dtype=largest.dtype, device=self.device)
        if atol is not None:
            rtol = aten.where(atol > 0, aten.full.default([], 0, dtype=largest.dtype, device=self.device), rtol)
    relative = aten.unsqueeze(rtol, -1) * largest
    return relative if atol is None else torch.maximum(aten.unsqueeze(atol, -1), relative)
