"""Reductions: sums, means, variances, norms, extrema."""

from __future__ import annotations

import math
from collections.abc import Sequence

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


@TABLE.register("aten::_aminmax")
def _aminmax(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """_aminmax(Tensor self) -> (Tensor, Tensor)"""
    return aten.amin(self, _all_dims(self)), aten.amax(self, _all_dims(self))


@TABLE.register("aten::_aminmax.dim")
def _aminmax_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)"""
    return aten.amin(self, [dim], keepdim), aten.amax(self, [dim], keepdim)


@TABLE.register("aten::_is_all_true")
def _is_all_true(self: torch.Tensor) -> torch.Tensor:
    """_is_all_true(Tensor self) -> Tensor"""
    return (
        aten.amin(self, _all_dims(self))
        if self.numel()
        else aten.full.default([], True, dtype=torch.bool, device=self.device)
    )


@TABLE.register("aten::_is_any_true")
def _is_any_true(self: torch.Tensor) -> torch.Tensor:
    """_is_any_true(Tensor self) -> Tensor"""
    return (
        aten.amax(self, _all_dims(self))
        if self.numel()
        else aten.full.default([], False, dtype=torch.bool, device=self.device)
    )


@TABLE.register("aten::hash_tensor")
def hash_tensor(self: torch.Tensor, dim: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0) -> torch.Tensor:
    """hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor

    The exclusive or of the elements' bits, floats as float64 and the rest as int64: halves are folded onto each other.
    """
    if mode != 0 or self.is_complex():
        return NotImplemented
    if self.is_floating_point():
        bits = aten.view.dtype(aten._to_copy(self, dtype=torch.float64), torch.int64)
    else:
        bits = aten._to_copy(self, dtype=torch.int64)
    reduced = sorted({d % self.dim() for d in dim}) if dim and self.dim() else _all_dims(self)
    kept = [d for d in _all_dims(self) if d not in reduced]
    shape = [self.shape[d] for d in kept]
    row = aten.reshape(aten.permute(bits, [*kept, *reduced]), [*shape, math.prod(self.shape[d] for d in reduced)])
    length = row.shape[-1]
    while length > 1:
        half = length // 2
        folded = aten.bitwise_xor(aten.slice(row, -1, 0, half), aten.slice(row, -1, half, 2 * half))
        row = aten.cat([folded, aten.slice(row, -1, length - 1, length)], -1) if length % 2 else folded
        length = row.shape[-1]
    if keepdim:
        shape = [1 if d in reduced else self.shape[d] for d in _all_dims(self)]
    return aten.view.dtype(aten.clone(aten.view(aten.sum.dim_IntList(row, [-1]), shape)), torch.uint64)
