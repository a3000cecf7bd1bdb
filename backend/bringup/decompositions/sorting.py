"""Sorting, selection, searching and unique values: everything follows from the stable sort."""

from __future__ import annotations

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("sorting")
aten = torch.ops.aten

Pair = tuple[torch.Tensor, torch.Tensor]


@TABLE.register("aten::sort")
def sort(self: torch.Tensor, dim: int = -1, descending: bool = False) -> Pair:
    """sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"""
    return aten.sort.stable(self, stable=False, dim=dim, descending=descending)


@TABLE.register("aten::topk")
def topk(self: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    """topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"""
    if self.dim() == 0:
        return aten.clone(self), aten.full_like(self, 0, dtype=torch.int64)
    values, indices = aten.sort.stable(self, stable=True, dim=dim, descending=largest)
    return values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()


def _at(pair: Pair, position: torch.Tensor, dim: int, keepdim: bool) -> Pair:
    """The elements of sorted values and indices at `position` (one per row, `dim` kept)."""
    values, indices = (torch.gather(part, dim, position) for part in pair)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


@TABLE.register("aten::kthvalue")
def kthvalue(self: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""
    if self.dim() == 0:
        return aten.clone(self), aten.full_like(self, 0, dtype=torch.int64)
    values, indices = aten.sort.stable(self, stable=True, dim=dim)
    values, indices = values.select(dim, k - 1), indices.select(dim, k - 1)
    return (values.unsqueeze(dim), indices.unsqueeze(dim)) if keepdim else (values.contiguous(), indices.contiguous())


def _middle(self: torch.Tensor, dim: int, keepdim: bool, *, skip_nan: bool) -> Pair:
    """The lower median along `dim`; NaN sorts last, wins when it is not skipped, and is not counted when it is."""
    if self.dim() == 0:
        return aten.clone(self), aten.full_like(self, 0, dtype=torch.int64)
    pair = aten.sort.stable(self, stable=True, dim=dim)
    count = torch.sum(self == self, dim, keepdim=True)
    position = torch.clamp(count - 1, min=0) // 2
    if not skip_nan:
        position = torch.where(count == self.shape[dim], position, count)
    return _at(pair, position, dim, keepdim)


@TABLE.register("aten::median.dim")
def median_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""
    return _middle(self, dim, keepdim, skip_nan=False)


@TABLE.register("aten::nanmedian.dim")
def nanmedian_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""
    return _middle(self, dim, keepdim, skip_nan=True)


@TABLE.register("aten::median")
def median(self: torch.Tensor) -> torch.Tensor:
    """median(Tensor self) -> Tensor"""
    if self.numel() == 0:
        return aten.full.default([], float("nan"), dtype=self.dtype, device=self.device)
    return _middle(self.reshape(-1), 0, False, skip_nan=False)[0]


@TABLE.register("aten::nanmedian")
def nanmedian(self: torch.Tensor) -> torch.Tensor:
    """nanmedian(Tensor self) -> Tensor"""
    if self.numel() == 0:
        return aten.full.default([], float("nan"), dtype=self.dtype, device=self.device)
    return _middle(self.reshape(-1), 0, False, skip_nan=True)[0]


@TABLE.register("aten::mode")
def mode(self: torch.Tensor, dim: int = -1, keepdim: bool = False) -> Pair:
    """mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)

    The smallest of the most frequent values, and the last place that has it: the longest run of the sorted row. A NaN is a run
    of its own.
    """
    if self.dim() == 0:
        return aten.clone(self), aten.full_like(self, 0, dtype=torch.int64)
    dim = dim % self.dim()
    pair = aten.sort.stable(self, stable=True, dim=dim)
    length = self.shape[dim]
    changes = aten.ne(aten.slice(pair[0], dim, 1, length), aten.slice(pair[0], dim, 0, length - 1))
    padding = [0, 0] * (self.dim() - dim - 1) + [1, 0]
    run = aten.cumsum(aten.constant_pad_nd(aten._to_copy(changes, dtype=torch.int64), padding), dim)
    count = aten.scatter_add(aten.full_like(run, 0), dim, run, aten.full_like(run, 1))
    frequency = aten.gather(count, dim, run)
    first = aten.argmax(frequency, dim, True)
    return _at(pair, first + aten.gather(frequency, dim, first) - 1, dim, keepdim)
