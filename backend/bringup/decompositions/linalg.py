"""Linear algebra: the pieces that are neither products, factors nor solvers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.linalg_factor import identity
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("linalg")
aten = torch.ops.aten

_TAYLOR_RADIUS = {torch.float32: 3.01, torch.float64: 1.09}
_MOST_SQUARINGS = {torch.float32: 32, torch.float64: 64}


@TABLE.register("aten::diagonal_scatter")
def diagonal_scatter(
    self: torch.Tensor, src: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> torch.Tensor:
    """diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor

    The diagonal is moved to the last two dimensions, where each of its entries is spread over a row and kept at one
    column.
    """
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    first, second = self.shape[dim1], self.shape[dim2]
    rest = [d for d in range(self.dim()) if d not in (dim1, dim2)]
    order = [*rest, dim1, dim2]
    moved = aten.permute(self, order)
    row = aten.unsqueeze(aten.arange(first, device=self.device), 1)
    column = aten.arange(second, device=self.device)
    # entry k of the diagonal is in row k - min(offset, 0)
    before = max(-offset, 0)
    length = src.shape[-1]
    spread = (
        aten.constant_pad_nd(src, [before, first - before - length])
        if length
        else aten.full.default([*src.shape[:-1], first], 0, dtype=src.dtype, device=src.device)
    )
    new = aten.where(column == row + offset, aten.unsqueeze(spread, -1), moved)
    return aten.clone(
        aten.permute(new, [order.index(d) for d in range(self.dim())]), memory_format=torch.contiguous_format
    )


@TABLE.register("aten::linalg__powsum")
def linalg__powsum(
    self: torch.Tensor,
    ord: float = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    The sum of magnitudes to a power: a vector norm without its root, in which zero to the power of zero is one.
    """
    narrow = aten.abs(self if dtype is None else self.to(dtype))
    magnitude = widened(narrow)
    found = aten.sum.dim_IntList(aten.pow(magnitude, ord), dim or list(range(self.dim())), keepdim)
    return narrowed(found, narrow.dtype)


@TABLE.register("aten::_compute_linear_combination")
def _compute_linear_combination(input: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    """_compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor

    input: (n, ...); coefficients: (m, n); the result is (m, ...).
    """
    combined = aten.mm(coefficients, aten.reshape(input, [input.shape[0], math.prod(input.shape[1:])]))
    return aten.reshape(combined, [coefficients.shape[0], *input.shape[1:]])


@TABLE.register("aten::linalg_matrix_exp")
def linalg_matrix_exp(self: torch.Tensor) -> torch.Tensor:
    """linalg_matrix_exp(Tensor self) -> Tensor

    Scaling and squaring (Moler and Van Loan, SIAM Review 45, 2003): exp(A) = exp(A / 2^s)^(2^s) with s by the 1-norm of
    each matrix. How many squarings that takes depends on data, so that `_MOST_SQUARINGS` are in the graph and each
    matrix
    keeps the results of its own; a matrix of a norm above 2^_MOST_SQUARINGS comes out as infinities.
    """
    dtype = self.dtype
    if dtype in (torch.float16, torch.bfloat16):
        return aten._to_copy(linalg_matrix_exp(aten._to_copy(self, dtype=torch.float32)), dtype=dtype)
    if 0 in self.shape:
        return aten.clone(self)
    norm = aten.amax(aten.sum(aten.abs(self), [-2]), [-1])
    ratio = norm / _TAYLOR_RADIUS[norm.dtype]
    one = aten.full.default([], 1.0, dtype=norm.dtype, device=self.device)
    exponent = aten.ceil(aten.log2(aten.where(ratio > 1, ratio, one)))
    scale = aten.pow(aten.full.default([], 0.5, dtype=norm.dtype, device=self.device), exponent)
    result = _taylor(self * _as_matrix(scale))
    for done in range(_MOST_SQUARINGS[norm.dtype]):
        result = aten.where(_as_matrix(exponent > done), aten.matmul(result, result), result)
    return result


def _as_matrix(values: torch.Tensor) -> torch.Tensor:
    return aten.unsqueeze(aten.unsqueeze(values, -1), -1)


def _taylor(matrix: torch.Tensor, degree: int = 18, block: int = 4) -> torch.Tensor:
    """The Taylor polynomial of exp in the form of Paterson and Stockmeyer (SIAM J. Comput. 2, 1973): seven products.

    Degree 18 is exact to rounding up to the norms `_TAYLOR_RADIUS` (Bader, Blanes and Casas, Mathematics 7,
    2019).
    """
    powers = [identity(matrix.shape[-1], matrix.shape[-1], matrix), matrix]
    while len(powers) <= block:
        powers.append(aten.matmul(powers[-1], matrix))
    result: torch.Tensor | None = None
    for low in range(degree // block * block, -1, -block):
        terms = [powers[k - low] / math.factorial(k) for k in range(low, min(low + block, degree + 1))]
        chunk = terms[-1]
        for term in reversed(terms[:-1]):
            chunk = chunk + term
        result = chunk if result is None else aten.matmul(result, powers[block]) + chunk
    assert result is not None
    return result
