"""Samplers made of uniform, normal and exponential numbers.

Eager's rejection samplers draw until they accept; here a fixed number of candidates is drawn for every element and the first
accepted one is taken, which gives the same distribution from another stream. The others follow eager's stream.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.memory_formats import physical_order
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("distributions")
aten = torch.ops.aten

_ROUNDS = 16  # every sampler here accepts more than 3 candidates in 4: none accepted has probability below 1e-9
_SMALL_COUNT = 64  # more than the successes that a binomial of mean 10 has, but for probability below 1e-25
_SERIES = 256  # terms of the series of the incomplete gamma function


def _uniform(size: Any, like: torch.Tensor, generator: Any) -> torch.Tensor:
    return aten.uniform(
        aten.full.default(size, 0, dtype=torch.float64, device=like.device), 0.0, 1.0, generator=generator
    )


@TABLE.register("aten::cauchy")
def cauchy(self: torch.Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> torch.Tensor:
    """cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor

    Inverse of the distribution function: median + sigma tan(pi (u - 1/2)).
    """
    uniform = aten.uniform(aten._to_copy(self, dtype=torch.float64), 0.0, 1.0, generator=generator)
    return aten._to_copy(median + sigma * torch.tan(torch.pi * (uniform - 0.5)), dtype=self.dtype)


@TABLE.register("aten::log_normal")
def log_normal(self: torch.Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> torch.Tensor:
    """log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor

    Box and Muller 1958, in double precision and in memory order: each pair (u, v) gives r cos(2 pi u), r sin(2 pi u) with
    r = sqrt(-2 log(1 - v)).
    """
    order = physical_order(self, None)
    shape, count = [self.shape[d] for d in order], self.numel()
    pairs = _uniform([(count + 1) // 2, 2], self, generator)
    angle, radius = 2 * math.pi * aten.select(pairs, 1, 0), torch.sqrt(-2 * torch.log1p(-aten.select(pairs, 1, 1)))
    normal = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1)
    flat = aten.slice(aten.reshape(normal, [-1]), 0, 0, count)
    drawn = aten._to_copy(torch.exp(mean + std * aten.view(flat, shape)), dtype=self.dtype)
    return drawn if order == sorted(order) else aten.permute(drawn, [order.index(d) for d in range(len(order))])


@TABLE.register("aten::multinomial")
def multinomial(
    self: torch.Tensor, num_samples: Any, replacement: bool = False, *, generator: Any = None
) -> torch.Tensor:
    """multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor

    Without replacement: an exponential race, the largest weights over exponential numbers (Efraimidis and Spirakis 2006).
    With replacement: the inverse of the distribution function by bisection.
    """
    if not replacement or (type(num_samples) is int and num_samples == 1):
        race = self / aten.exponential(aten.full_like(self, 0), 1.0, generator=generator)
        if type(num_samples) is int and num_samples == 1:
            return aten.argmax(race, -1, True)
        return aten.topk(race, num_samples, -1)[1]
    wide = torch.float64 if self.dtype is torch.float64 else torch.float32
    total = aten.cumsum(aten._to_copy(self, dtype=wide), -1)
    function = aten._to_copy(total / aten.slice(total, -1, -1, None), dtype=torch.float64)
    drawn = _uniform([*self.shape[:-1], num_samples], self, generator)
    return aten.searchsorted.Tensor(aten.clone(function, memory_format=torch.contiguous_format), drawn)


@TABLE.register("aten::rrelu_with_noise_functional")
def rrelu_with_noise_functional(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    generator: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, Generator? generator)

    Xu et al. 2015. Like eager, only elements that are not positive draw a slope: the k-th of them takes the k-th number.
    """
    if not training:
        slope = (lower + upper) / 2
        return torch.where(self > 0, self, self * slope), aten.clone(noise)
    flat = aten.reshape(aten.contiguous(self), [-1])
    draws = flat <= 0
    place = aten.clamp(aten.cumsum(aten._to_copy(draws, dtype=torch.int64), 0) - 1, 0)
    slope = aten.gather(_uniform(flat.shape, self, generator), 0, place) * (upper - lower) + lower
    slope = torch.where(draws, slope, 1.0)
    result, noise = aten._to_copy(flat * slope, dtype=self.dtype), aten._to_copy(slope, dtype=self.dtype)
    return aten.view(result, self.shape), aten.view(noise, self.shape)


def _first(accepted: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
    """The first accepted candidate of every element; rounds are the first dimension."""
    best = aten.argmax(aten._to_copy(accepted, dtype=torch.int32), 0, True)
    return aten.squeeze(aten.gather(candidates, 0, best), 0)


@TABLE.register("aten::_standard_gamma")
def _standard_gamma(self: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """_standard_gamma(Tensor self, Generator? generator=None) -> Tensor

    Marsaglia and Tsang 2000; a shape below 1 is raised by one and the sample multiplied by u^(1 / shape).
    """
    shape = aten._to_copy(self, dtype=torch.float64)
    raised = torch.where(shape < 1, shape + 1, shape)
    d = raised - 1 / 3
    rounds = [_ROUNDS, *self.shape]
    normal = aten.normal_functional(
        aten.full.default(rounds, 0, dtype=torch.float64, device=self.device), 0.0, 1.0, generator=generator
    )
    v = (1 + normal / torch.sqrt(9 * d)) ** 3
    u = 1 - _uniform(rounds, self, generator)
    positive = torch.where(v > 0, v, 1)
    accepted = (v > 0) & (torch.log(u) < normal * normal / 2 + d * (1 - positive + torch.log(positive)))
    power = torch.where(shape < 1, (1 - _uniform(self.shape, self, generator)) ** (1 / shape), 1)
    sample = aten._to_copy(d * _first(accepted, positive) * power, dtype=self.dtype)
    return torch.clamp(sample, min=torch.finfo(self.dtype).tiny)


@TABLE.register("aten::_standard_gamma_grad")
def _standard_gamma_grad(self: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """_standard_gamma_grad(Tensor self, Tensor output) -> Tensor

    Implicit differentiation (Figurnov et al. 2018): dx/da = -(dP/da) / p. With the series P = sum of x^(a+n) e^-x / Gamma(a+n+1) it is
    the sum of x^(n+1) Gamma(a) / Gamma(a+n+1) (psi(a+n+1) - log x). Shapes above 64 use the cube-root normal law (Wilson and
    Hilferty 1931), whose relative error falls as 1 / a.
    """
    a, x = (aten.unsqueeze(aten._to_copy(t, dtype=torch.float64), -1) for t in (self, output))
    small = torch.clamp(a, max=64.0)
    n = torch.arange(_SERIES, dtype=torch.float64, device=self.device)
    log_x = torch.log(torch.where(a > 64, small, x))
    weight = torch.exp((n + 1) * log_x + torch.lgamma(small) - torch.lgamma(small + n + 1))
    series = torch.sum(weight * (torch.digamma(small + n + 1) - log_x), -1)
    a, x = aten.squeeze(a, -1), aten.squeeze(x, -1)
    root = (x / a) ** (1 / 3)
    z = 3 * torch.sqrt(a) * (root - 1 + 1 / (9 * a))
    asymptotic = root**3 + 3 * a * root**2 * (1 / (9 * a * a) - z / (6 * a**1.5))
    return aten._to_copy(torch.where(a > 64, asymptotic, series), dtype=self.dtype)


@TABLE.register("aten::_sample_dirichlet")
def _sample_dirichlet(self: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor

    Gamma samples over their sum.
    """
    gamma = _standard_gamma(aten._to_copy(self, dtype=torch.float64), generator)
    return aten._to_copy(gamma / torch.sum(gamma, -1, keepdim=True), dtype=self.dtype)


@TABLE.register("aten::binomial")
def binomial(count: torch.Tensor, prob: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor

    For a mean below 10 the gaps between successes are geometric; else transformed rejection (Hoermann 1993, BTRS).
    """
    dtype = count.dtype
    count, prob = torch.broadcast_tensors(
        aten._to_copy(count, dtype=torch.float64), aten._to_copy(prob, dtype=torch.float64)
    )
    p = torch.minimum(prob, 1 - prob)
    few = count * p < 10
    gaps = torch.ceil(torch.log(1 - _uniform([_SMALL_COUNT, *count.shape], count, generator)) / torch.log1p(-p))
    rare = torch.sum(aten.cumsum(gaps, 0) <= count, 0)
    rare = torch.where(p > 0, aten._to_copy(rare, dtype=torch.float64), 0)
    n, q = torch.where(few, 40, count), torch.where(few, 0.5, p)
    spread = torch.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * spread
    a, c = -0.0873 + 0.0248 * b + 0.01 * q, n * q + 0.5
    alpha, mode = (2.83 + 5.1 / b) * spread, torch.floor((n + 1) * q)
    u = _uniform([_ROUNDS, *count.shape], count, generator) - 0.5
    v = 1 - _uniform([_ROUNDS, *count.shape], count, generator)
    us = 0.5 - torch.abs(u)
    k = torch.floor((2 * a / us + b) * u + c)
    inside = (k >= 0) & (k <= n)
    kept = torch.where(inside, k, mode)
    ratio = torch.lgamma(mode + 1) + torch.lgamma(n - mode + 1) - torch.lgamma(kept + 1) - torch.lgamma(n - kept + 1)
    bound = ratio + (kept - mode) * torch.log(q / (1 - q))
    accepted = inside & (((us >= 0.07) & (v <= 0.92 - 4.2 / b)) | (torch.log(v * alpha / (a / (us * us) + b)) <= bound))
    successes = torch.where(few, rare, _first(accepted, kept))
    return aten._to_copy(torch.where(prob > 0.5, count - successes, successes), dtype=dtype)
