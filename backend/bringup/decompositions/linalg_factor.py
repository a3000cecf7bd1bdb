"""Factorisations and what is done with their packed factors.

Products of Householder reflections use the compact form ``H_1 ... H_k = I - V T V^H`` with ``T^-1 = D^-1 + striu(V^H
V)``,
``D = diag(tau)`` (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989; Puglisi, ibid. 13, 1992), written as
``T = (I + D striu(V^H V))^-1 D`` so that a reflection with tau = 0 needs no case of its own.
"""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("linalg_factor")
aten = torch.ops.aten


def adjoint(matrix: torch.Tensor) -> torch.Tensor:
    """The conjugate transpose, as a value without a conjugate bit."""
    turned = aten.transpose(matrix, -2, -1)
    return aten._conj_physical(turned) if matrix.is_complex() else turned


def identity(rows: int, columns: int, like: torch.Tensor) -> torch.Tensor:
    """A rows by columns matrix with ones on its diagonal."""
    row = aten.arange(rows, device=like.device)
    column = aten.arange(columns, device=like.device)
    return aten._to_copy(aten.unsqueeze(row, 1) == column, dtype=like.dtype)


def triangle(matrix: torch.Tensor, *, upper: bool, diagonal: int = 0) -> torch.Tensor:
    """The upper or lower triangle of a matrix, zeros elsewhere."""
    row = aten.unsqueeze(aten.arange(matrix.shape[-2], device=matrix.device), 1)
    column = aten.arange(matrix.shape[-1], device=matrix.device)
    kept = column >= row + diagonal if upper else column <= row + diagonal
    return aten.where(kept, matrix, aten.full.default([], 0, dtype=matrix.dtype, device=matrix.device))


def _reflectors(packed: torch.Tensor, count: int) -> torch.Tensor:
    """The unit lower trapezoidal matrix V of the first `count` reflections."""
    packed = aten.slice(packed, -1, 0, count)
    return triangle(packed, upper=False, diagonal=-1) + identity(packed.shape[-2], count, packed)


def _unit_triangle(v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """I + D striu(V^H V)."""
    gram = triangle(aten.matmul(adjoint(v), v), upper=True, diagonal=1)
    return aten.unsqueeze(tau, -1) * gram + identity(v.shape[-1], v.shape[-1], v)


def _times_t(v: torch.Tensor, tau: torch.Tensor, right: torch.Tensor, *, adjoint_: bool = False) -> torch.Tensor:
    """T right, or T^H right."""
    unit, scale = _unit_triangle(v, tau), aten.unsqueeze(tau, -1)
    if not adjoint_:
        return aten.linalg_solve_triangular(unit, scale * right, upper=True, unitriangular=True)
    solved = aten.linalg_solve_triangular(adjoint(unit), right, upper=False, unitriangular=True)
    return (aten._conj_physical(scale) if scale.is_complex() else scale) * solved


def _reflect(packed: torch.Tensor, tau: torch.Tensor, columns: int) -> torch.Tensor:
    """The first `columns` columns of H_1 ... H_k."""
    v = _reflectors(packed, tau.shape[-1])
    right = adjoint(aten.slice(v, -2, 0, columns))
    return identity(packed.shape[-2], columns, packed) - aten.matmul(v, _times_t(v, tau, right))


@TABLE.register("aten::linalg_householder_product")
def linalg_householder_product(input: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """linalg_householder_product(Tensor input, Tensor tau) -> Tensor"""
    return _reflect(input, tau, input.shape[-1])


@TABLE.register("aten::ormqr")
def ormqr(
    self: torch.Tensor, input2: torch.Tensor, input3: torch.Tensor, left: bool = True, transpose: bool = False
) -> torch.Tensor:
    """ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor

    With Q on the right, C Q = (Q^H C^H)^H.
    """
    if not left:
        return adjoint(ormqr(self, input2, adjoint(input3), True, not transpose))
    v = _reflectors(self, input2.shape[-1])
    inner = aten.matmul(adjoint(v), input3)
    return input3 - aten.matmul(v, _times_t(v, input2, inner, adjoint_=transpose))


@TABLE.register("aten::geqrf")
def geqrf(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """geqrf(Tensor self) -> (Tensor a, Tensor tau)

    LAPACK's geqr2, one reflection a step (Golub and Van Loan, Matrix Computations, algorithm 5.2.1): the graph grows
    with the
    smaller side of the matrix. `linalg_qr` is a kernel; only this packed form is not.
    """
    rows, columns = self.shape[-2:]
    row = aten.unsqueeze(aten.arange(rows, device=self.device), -1)
    packed, scales = self, []
    for step in range(min(rows, columns)):
        column = aten.slice(packed, -1, step, step + 1)
        v, tau, beta = _reflection(aten.slice(column, -2, step, step + 1), aten.where(row > step, column, _zero(self)))
        done, rest = aten.slice(packed, -1, 0, step), aten.slice(packed, -1, step + 1, columns)
        turn = aten._conj_physical(tau) if self.is_complex() else tau
        whole = v + aten._to_copy(row == step, dtype=self.dtype)
        rest = rest - aten.mul(turn * whole, aten.matmul(adjoint(whole), rest))
        column = aten.where(row < step, column, aten.where(row == step, beta, v))
        packed = aten.cat([done, column, rest], -1)
        scales.append(aten.squeeze(tau, [-1]))
    if not scales:
        return aten.clone(self), aten.full.default([*self.shape[:-2], 0], 0, dtype=self.dtype, device=self.device)
    return packed, aten.cat(scales, -1)


def _zero(like: torch.Tensor) -> torch.Tensor:
    return aten.full.default([], 0, dtype=like.dtype, device=like.device)


def _reflection(alpha: torch.Tensor, below: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """LAPACK's larfg: v, tau and beta with (I - tau w w^H)^H x = beta e, where x is alpha over `below` and w is 1 over v."""
    norm = aten.sqrt(aten.sum(aten.mul(aten.abs(below), aten.abs(below)), [-2], True))
    parts = aten.view_as_real(aten.clone(alpha)) if alpha.is_complex() else None
    real = alpha if parts is None else aten.select(parts, -1, 0)
    nothing = norm == 0 if parts is None else aten.bitwise_and(norm == 0, aten.select(parts, -1, 1) == 0)
    length = aten.sqrt(aten.abs(alpha) * aten.abs(alpha) + norm * norm)
    beta = aten._to_copy(aten.where(real < 0, length, -length), dtype=alpha.dtype)
    one = aten.full.default([], 1, dtype=alpha.dtype, device=alpha.device)
    tau = aten.where(nothing, _zero(alpha), (beta - alpha) / aten.where(nothing, one, beta))
    return below / aten.where(nothing, one, alpha - beta), tau, aten.where(nothing, alpha, beta)


@TABLE.register("aten::cholesky")
def cholesky(self: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """cholesky(Tensor self, bool upper=False) -> Tensor

    Eager raises where the matrix is not positive definite; a graph has no place for that inside this operator, and
    NaN says it.
    """
    factor, info = aten.linalg_cholesky_ex(self, upper=upper)
    failed = aten.unsqueeze(aten.unsqueeze(info != 0, -1), -1)
    return aten.where(failed, aten.full.default([], float("nan"), dtype=self.dtype, device=self.device), factor)


@TABLE.register("aten::_linalg_eigvals")
def _linalg_eigvals(self: torch.Tensor) -> torch.Tensor:
    """_linalg_eigvals(Tensor self) -> Tensor"""
    return aten.linalg_eig(self)[0]


def swaps(pivots: torch.Tensor, size: int) -> torch.Tensor:
    """LAPACK's row interchanges, 1-based pivots [..., k], as k permutations [..., k, size]: the i-th swaps i and pivots[i] - 1."""
    count = pivots.shape[-1]
    other = aten.unsqueeze(aten._to_copy(pivots, dtype=torch.int64) - 1, -1)
    own = aten.unsqueeze(aten.arange(count, device=pivots.device), -1)
    place = aten.arange(size, device=pivots.device)
    return aten.where(place == own, other, aten.where(place == other, own, place))


def permutation(pivots: torch.Tensor, size: int) -> torch.Tensor:
    """The row order that the interchanges lead to: row i of the result is row ``permutation[i]`` of the matrix.

    Composition is associative, so the k swaps are composed pairwise in log2(k) steps.
    """
    steps = swaps(pivots, size)
    count = pivots.shape[-1]
    if count == 0:
        return aten.expand(aten.arange(size, device=pivots.device), [*pivots.shape[:-1], size])
    while count > 1:
        first = aten.slice(steps, -2, 0, count - count % 2, 2)
        second = aten.slice(steps, -2, 1, count, 2)
        pairs = aten.gather(first, -1, second)
        steps = aten.cat([pairs, aten.slice(steps, -2, count - 1, count)], -2) if count % 2 else pairs
        count = (count + 1) // 2
    return aten.squeeze(steps, [-2])


def inverse_order(order: torch.Tensor) -> torch.Tensor:
    """The inverses of permutations."""
    place = aten.expand(aten.arange(order.shape[-1], device=order.device), order.shape)
    return aten.scatter(aten.full.default(order.shape, 0, dtype=torch.int64, device=order.device), -1, order, place)


def take_rows(matrix: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Row ``order[i]`` of each matrix as row i."""
    return aten.gather(matrix, -2, aten.expand(aten.unsqueeze(order, -1), matrix.shape))


@TABLE.register("aten::lu_unpack")
def lu_unpack(
    LU_data: torch.Tensor, LU_pivots: torch.Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)"""
    rows, columns = LU_data.shape[-2:]
    inner: Any = torch.sym_min(rows, columns)
    p, lower, upper = (aten.full.default([0], 0, dtype=LU_data.dtype, device=LU_data.device) for _ in range(3))
    if unpack_data:
        lower = _reflectors(LU_data, inner)
        upper = triangle(aten.slice(LU_data, -2, 0, inner), upper=True)
    if unpack_pivots:
        order = permutation(LU_pivots, rows)
        place = aten.unsqueeze(aten.arange(rows, device=LU_data.device), 1)
        p = aten._to_copy(place == aten.unsqueeze(order, -2), dtype=LU_data.dtype)
    return p, lower, upper


@TABLE.register("aten::linalg_lu")
def linalg_lu(A: torch.Tensor, *, pivot: bool = True) -> Any:
    """linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)"""
    lu, pivots, _ = aten.linalg_lu_factor_ex(A, pivot=pivot)
    return lu_unpack(lu, pivots, True, pivot)
