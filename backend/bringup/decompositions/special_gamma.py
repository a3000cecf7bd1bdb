"""Functions around gamma: Hurwitz zeta and polygamma."""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import in_float

TABLE = Decompositions("special_gamma")
aten = torch.ops.aten

_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
)
_HEAD = 9


def _hurwitz(s: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """zeta(s, q) for s > 1 and q > 0.

    The sum of (q + k)^-s over k < 9, and Euler-Maclaurin's formula with w = q + 9 for the rest (DLMF 25.11.28):
    w^(1-s) / (s-1) + w^-s / 2 + sum of B_2j / (2j)! s (s+1) ... (s+2j-2) w^(1-s-2j).
    """
    head = aten.pow(q, -s)
    for k in range(1, _HEAD):
        head = head + aten.pow(q + k, -s)
    w = q + _HEAD
    power = aten.pow(w, -s)
    total = head + power * w / (s - 1) + power / 2
    term = power * (s / w)
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + term * (bernoulli / math.factorial(2 * j))
        term = term * ((s + (2 * j - 1)) / w) * ((s + 2 * j) / w)
    return torch.where(power == 0, head, total)


@TABLE.register("aten::special_zeta")
@in_float
def special_zeta(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """special_zeta(Tensor self, Tensor other) -> Tensor

    Below 0, for whole s, the sum over all integers j of (q + j)^-s is zeta(s, u) + (-1)^s zeta(s, 1 - u), where u = q - floor(q),
    and the part of it that zeta(s, q) lacks is (-1)^s zeta(s, 1 - q).
    """
    s, q = torch.broadcast_tensors(self, other)
    whole = aten.floor(q)
    right = torch.where(q > 0, q, q - whole)
    three = aten.cat([aten.unsqueeze(t, 0) for t in (right, aten.ceil(q) - q, 1 - q)], 0)
    values = _hurwitz(s, three)
    at_right, at_left, lacking = (aten.select(values, 0, i) for i in range(3))
    below = at_right + (1 - 2 * aten.abs(aten.fmod(s, 2))) * (at_left - lacking)
    below = torch.where(q == whole, math.inf, torch.where(s == aten.floor(s), below, math.nan))
    result = torch.where(q > 0, at_right, torch.where(q <= 0, below, q))
    return torch.where(s == 1, math.inf, torch.where(s < 1, math.nan, result))


def _trigamma(x: torch.Tensor) -> torch.Tensor:
    """Psi'(x): pi^2 / sin(pi x)^2 - Psi'(1 - x) below 1/2 (DLMF 5.15.6), then as zeta(2, x)."""
    reflected = x < 0.5
    sine = aten.sin(x * math.pi)
    value = _hurwitz(aten.full.default([], 2, dtype=x.dtype, device=x.device), torch.where(reflected, 1 - x, x))
    return torch.where(reflected, math.pi**2 / (sine * sine) - value, value)


@TABLE.register("aten::polygamma")
def polygamma(n: int, self: torch.Tensor) -> torch.Tensor:
    """polygamma(int n, Tensor self) -> Tensor

    (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12).
    """
    if n < 0:
        return NotImplemented
    return _polygamma(self, n=n)


@in_float
def _polygamma(x: torch.Tensor, *, n: int) -> torch.Tensor:
    if n == 0:
        return aten.digamma(x)
    if n == 1:
        return _trigamma(x)
    factorial = math.exp(math.lgamma(n + 1)) if n < 171 else math.inf
    return special_zeta(aten.full.default([], n + 1, dtype=x.dtype, device=x.device), x) * (
        factorial if n % 2 else -factorial
    )
