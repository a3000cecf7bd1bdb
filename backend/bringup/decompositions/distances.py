"""Pairwise distances and their gradients: the derivative of |x - y|_p to x is sign(d) |d|^(p - 1) / dist^(p - 1), with d = x - y."""

from __future__ import annotations

import math

import torch

from bringup.decompositions.half_precision import narrowed
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("distances")
aten = torch.ops.aten


def _slope(gap: torch.Tensor, distance: torch.Tensor, p: float) -> torch.Tensor:
    """The derivative of the distance to the first point; zero where the distance is."""
    if p == 0:
        return torch.zeros_like(gap)
    if p == 1:
        return torch.sign(gap)
    if p == math.inf:
        return torch.sign(gap) * (torch.abs(gap) == distance).to(gap.dtype)
    safe = torch.where(distance == 0, torch.ones_like(distance), distance)
    if p == 2:
        slope = gap / safe
    else:
        size = torch.abs(gap)
        power = torch.where(
            size == 0, torch.zeros_like(size), torch.pow(torch.where(size == 0, torch.ones_like(size), size), p - 1)
        )
        slope = torch.sign(gap) * power / torch.pow(safe, p - 1)
    return torch.where(distance == 0, torch.zeros_like(slope), slope)


def _norm(gap: torch.Tensor, p: float) -> torch.Tensor:
    """The norm of each row; points without coordinates, or no points at all, are no obstacle to the largest one."""
    if p != math.inf:
        return torch.linalg.vector_norm(gap, p, -1)
    if gap.shape[-1] == 0:
        return aten.full.default(gap.shape[:-1], 0, dtype=gap.dtype, device=gap.device)
    return torch.amax(torch.abs(gap), -1)


@TABLE.register("aten::_cdist_forward")
def cdist_forward(x1: torch.Tensor, x2: torch.Tensor, p: float, compute_mode: int | None) -> torch.Tensor:
    """_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"""
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@TABLE.register("aten::_pdist_forward")
def pdist_forward(self: torch.Tensor, p: float = 2) -> torch.Tensor:
    """_pdist_forward(Tensor self, float p=2) -> Tensor"""
    n = self.shape[0]
    row, column = torch.triu_indices(n, n, 1, device=self.device).unbind(0)
    return narrowed(_norm(aten.index.Tensor(self, [row]) - aten.index.Tensor(self, [column]), p), self.dtype)


@TABLE.register("aten::_cdist_backward")
def cdist_backward(
    grad: torch.Tensor, x1: torch.Tensor, x2: torch.Tensor, p: float, cdist: torch.Tensor
) -> torch.Tensor:
    """_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor

    Args:
        grad, cdist: (..., P, R); x1: (..., P, M); x2: (..., R, M). The result has the shape of x1.
    """
    gap = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.sum(grad.unsqueeze(-1) * _slope(gap, cdist.unsqueeze(-1), p), -2)


@TABLE.register("aten::_pdist_backward")
def pdist_backward(grad: torch.Tensor, self: torch.Tensor, p: float, pdist: torch.Tensor) -> torch.Tensor:
    """_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor

    Args:
        grad, pdist: (n (n - 1) / 2,), the pairs i < j in rows; self: (n, M).
    """
    n = self.shape[0]
    row, column = torch.triu_indices(n, n, 1, device=self.device).unbind(0)
    square = aten.full.default([n, n], 0, dtype=self.dtype, device=self.device)

    def full(pairs: torch.Tensor) -> torch.Tensor:
        upper = aten.index_put(square, [row, column], pairs)
        return upper + upper.transpose(0, 1)

    gap = self.unsqueeze(1) - self.unsqueeze(0)
    return torch.sum(full(grad).unsqueeze(-1) * _slope(gap, full(pdist).unsqueeze(-1), p), 1)
