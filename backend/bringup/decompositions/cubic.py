"""Cubic convolution: R. Keys, Cubic convolution interpolation for digital image processing (1981), with the free parameter `a`."""

from __future__ import annotations

import torch

aten = torch.ops.aten


def inner(d: torch.Tensor, a: float) -> torch.Tensor:
    """The kernel at distances below 1."""
    return ((a + 2) * d - (a + 3)) * d * d + 1


def outer(d: torch.Tensor, a: float) -> torch.Tensor:
    """The kernel at distances between 1 and 2."""
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def cubic(t: torch.Tensor, a: float = -0.75) -> list[torch.Tensor]:
    """Weights of the four elements around a point `t` behind the second."""
    u = 1 - t
    return [outer(t + 1, a), inner(t, a), inner(u, a), outer(u + 1, a)]


def cubic_slopes(t: torch.Tensor, a: float = -0.75) -> list[torch.Tensor]:
    """The derivatives of `cubic` by `t`."""
    u, v, w = 1 - t, t + 1, 2 - t
    return [
        (3 * a * v - 10 * a) * v + 8 * a,
        (3 * (a + 2) * t - 2 * (a + 3)) * t,
        aten.neg((3 * (a + 2) * u - 2 * (a + 3)) * u),
        aten.neg((3 * a * w - 10 * a) * w + 8 * a),
    ]
