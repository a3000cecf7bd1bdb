"""Solving with the packed factors of a symmetric indefinite matrix (Bunch and Kaufman, Math. Comp. 31, 1977)."""

from __future__ import annotations

import torch

from bringup.decompositions.linalg_factor import (
    adjoint,
    identity,
    inverse_order,
    permutation,
    swaps,
    take_rows,
    triangle,
)
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("linalg_ldl")
aten = torch.ops.aten


@TABLE.register("aten::linalg_ldl_solve")
def linalg_ldl_solve(
    LD: torch.Tensor, pivots: torch.Tensor, B: torch.Tensor, *, hermitian: bool = False
) -> torch.Tensor:
    """linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor

    As LAPACK's sytrs and hetrs, A = P L D L^T P^T where D has blocks of one and two rows. Two equal negative pivots
    mark
    a block of two whose second row was interchanged; its first row stays.
    """
    batch = torch.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    factors, right = aten.expand(LD, [*batch, *LD.shape[-2:]]), aten.expand(B, [*batch, *B.shape[-2:]])
    size = LD.shape[-1]
    paired = aten._to_copy(pivots < 0, dtype=torch.int64)
    first = paired * (aten.cumsum(paired, -1) % 2) == 1
    own = aten.arange(1, size + 1, device=LD.device)
    target = aten.where(first, own, aten.abs(aten._to_copy(pivots, dtype=torch.int64)))
    lower = _completed(factors, swaps(target, size), first)
    order = aten.expand(permutation(target, size), factors.shape[:-1])
    inner = aten.linalg_solve_triangular(lower, take_rows(right, order), upper=False, unitriangular=True)
    middle = _block_solve(factors, first, inner, hermitian)
    turned = adjoint(lower) if hermitian else aten.transpose(lower, -2, -1)
    outer = aten.linalg_solve_triangular(turned, middle, upper=True, unitriangular=True)
    return take_rows(outer, inverse_order(order))


def _ahead(values: torch.Tensor, distance: int, filler: torch.Tensor, dim: int = -2) -> torch.Tensor:
    """Entry i + distance of `dim` as entry i, `filler` past the end."""
    size = values.shape[dim]
    return aten.cat([aten.slice(values, dim, distance, size), aten.slice(filler, dim, 0, min(distance, size))], dim)


def _completed(factors: torch.Tensor, steps: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
    """The unit lower factor.

    LAPACK stores a column as its own step left it; the interchanges of all later steps are applied here, their
    compositions found by a suffix scan (Hillis and Steele, Comm. ACM 29, 1986). The entry inside a block belongs to D.
    """
    size = factors.shape[-1]
    place = aten.arange(size, device=factors.device)
    nothing = aten.expand(place, steps.shape)
    later, distance = _ahead(steps, 1, nothing), 1
    while distance < size:
        later = aten.gather(later, -1, _ahead(later, distance, nothing))
        distance *= 2
    later = aten.where(aten.unsqueeze(first, -1), _ahead(later, 1, nothing), later)
    inside = aten.bitwise_and(aten.unsqueeze(first, -2), aten.unsqueeze(place, -1) == place + 1)
    zero = aten.full.default([], 0, dtype=factors.dtype, device=factors.device)
    below = aten.where(inside, zero, triangle(factors, upper=False, diagonal=-1))
    index = aten.expand(aten.transpose(later, -2, -1), factors.shape)
    return aten.gather(below, -2, index) + identity(size, size, factors)


def _block_solve(factors: torch.Tensor, first: torch.Tensor, right: torch.Tensor, hermitian: bool) -> torch.Tensor:
    """D^-1 times `right`; a block of two is scaled by its inner entry so that its determinant does not overflow."""
    size = factors.shape[-1]
    if size == 0:
        return right
    first = aten.unsqueeze(first, -1)
    one = aten.full.default([], 1, dtype=factors.dtype, device=factors.device)
    diagonal = aten.unsqueeze(aten.diagonal(factors, 0, -2, -1), -1)
    if hermitian:
        diagonal = aten._to_copy(aten.select(aten.view_as_real(aten.clone(diagonal)), -1, 0), dtype=factors.dtype)
    ones = aten.expand(one, diagonal.shape)
    below = aten.cat([aten.unsqueeze(aten.diagonal(factors, -1, -2, -1), -1), aten.slice(ones, -2, 0, 1)], -2)
    below = aten.where(first, below, one)
    above = aten._conj_physical(below) if hermitian else below
    upper, lower = diagonal / above, _ahead(diagonal, 1, ones) / below
    right_upper, right_lower = right / above, _ahead(right, 1, right) / below
    determinant = aten.where(first, upper * lower - 1, one)
    top = (lower * right_upper - right_lower) / determinant
    bottom = (upper * right_lower - right_upper) / determinant
    second = _behind(first)
    return aten.where(first, top, aten.where(second, _behind(bottom), right / diagonal))


def _behind(values: torch.Tensor) -> torch.Tensor:
    """Row i - 1 as row i; the first row is made of zeros."""
    size = values.shape[-2]
    head = aten.slice(values, -2, 0, 1)
    zeros = aten.full.default(head.shape, 0, dtype=values.dtype, device=values.device)
    return aten.cat([zeros, aten.slice(values, -2, 0, size - 1)], -2)
