"""Products of float8 matrices with scales: the rows of one and the columns of the other, or the whole, stand for themselves times a scale.

(s_a A) (s_b B) = s_a s_b (A B), where s_a is a number or a column, s_b a number or a row. Blocks of scales along the inner dimension
(PyTorch's BlockWise and MX recipes) do not factor out; PyTorch has no kernel of them on the CPU to compare with, so those calls are left.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("scaled_mm")
aten = torch.ops.aten

_TENSOR_WISE, _ROW_WISE = 0, 1
"""Of ``torch.nn.functional.ScalingType``: the recipes with one scale for all, and one for each row of the left or column of the right."""


def _factors_out(scale: torch.Tensor, size: int, dim: int) -> bool:
    """Whether a scale is one number, or one for each of `size` rows (`dim` 0) or columns (`dim` 1)."""
    if scale.dtype is not torch.float32:
        return False
    if scale.numel() == 1:
        return True
    return scale.dim() == 2 and scale.shape[dim] == size and scale.shape[1 - dim] == 1


@TABLE.register("aten::_scaled_mm")
def scaled_mm(
    self: torch.Tensor,
    mat2: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """(M, K) times (K, N) in float32, scaled, rounded once to `out_dtype` (that of `self` by default).

    A float8 result is divided by `scale_result`; other results are not, as in eager. `use_fast_accum` allows less exact sums and is not used.
    """
    if not (_factors_out(scale_a, self.shape[0], 0) and _factors_out(scale_b, mat2.shape[1], 1)):
        return NotImplemented
    dtype = self.dtype if out_dtype is None else out_dtype
    product = aten.mm(aten._to_copy(self, dtype=torch.float32), aten._to_copy(mat2, dtype=torch.float32))
    for scale in (scale_a, scale_b):
        product = product * (aten.reshape(scale, []) if scale.numel() == 1 else scale)
    if bias is not None:
        product = product + bias.to(torch.float32)
    if scale_result is not None and dtype.itemsize == 1:
        product = product / aten.reshape(scale_result, [])
    return product.to(dtype)


@TABLE.register("aten::_scaled_mm_v2")
def scaled_mm_v2(
    self: torch.Tensor,
    mat2: torch.Tensor,
    scale_a: Sequence[torch.Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[torch.Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: torch.Tensor | None,
    out_dtype: torch.dtype | None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """The same with named recipes, where each side has one scale tensor in its plain order."""
    recipes = [*recipe_a, *recipe_b]
    if (
        len(recipes) != 2
        or not {*recipes} <= {_TENSOR_WISE, _ROW_WISE}
        or any([*swizzle_a, *swizzle_b, *contraction_dim])
    ):
        return NotImplemented
    return scaled_mm(self, mat2, scale_a[0], scale_b[0], bias, None, out_dtype, use_fast_accum)
