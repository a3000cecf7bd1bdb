"""Elementwise operators: integer promotion, and functions that are one formula of smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

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
