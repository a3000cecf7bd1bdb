"""Reductions: sums, means, variances, norms, extrema."""

from __future__ import annotations

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("reductions")
aten = torch.ops.aten


def _all_dims(self: torch.Tensor) -> list[int]:
    return list(range(self.dim()))


@TABLE.register("aten::max")
def max_(self: torch.Tensor) -> torch.Tensor:
    """max(Tensor self) -> Tensor"""
    return aten.amax(self, _all_dims(self))


@TABLE.register("aten::min")
def min_(self: torch.Tensor) -> torch.Tensor:
    """min(Tensor self) -> Tensor"""
    return aten.amin(self, _all_dims(self))


def _countable(self: torch.Tensor) -> torch.Tensor:
    """argmax takes no bool on the host; the order of bools is that of 0 and 1."""
    return aten._to_copy(self, dtype=torch.uint8) if self.dtype is torch.bool else self


@TABLE.register("aten::max.dim")
def max_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""
    return aten.amax(self, [dim], keepdim), aten.argmax(_countable(self), dim, keepdim)


@TABLE.register("aten::min.dim")
def min_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""
    return aten.amin(self, [dim], keepdim), aten.argmin(_countable(self), dim, keepdim)
