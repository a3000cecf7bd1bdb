"""Scans: cumulative extrema and logarithms of sums, in log2(n) steps of shifted combination (Hillis and Steele 1986)."""

from __future__ import annotations

from collections.abc import Callable

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("cumulative")
aten = torch.ops.aten

Combine = Callable[..., tuple[torch.Tensor, ...]]


def _scan(parts: tuple[torch.Tensor, ...], dim: int, combine: Combine) -> tuple[torch.Tensor, ...]:
    """Inclusive scan of tuples along `dim`: after step k each element has combined the 2^k elements up to it."""
    length, shift = parts[0].shape[dim], 1
    while shift < length:
        head = [p.narrow(dim, 0, shift) for p in parts]
        earlier = [p.narrow(dim, 0, length - shift) for p in parts]
        later = [p.narrow(dim, shift, length - shift) for p in parts]
        joined = combine(*earlier, *later)
        parts = tuple(torch.cat([h, j], dim) for h, j in zip(head, joined, strict=True))
        shift *= 2
    return parts


def _extremum(
    self: torch.Tensor, dim: int, later_wins: Callable[..., torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    if self.dim() == 0:
        return aten.clone(self), aten.full_like(self, 0, dtype=torch.int64)
    dim = dim % self.dim()
    place = torch.arange(self.shape[dim], device=self.device)
    place = place.view([-1 if d == dim else 1 for d in range(self.dim())]).expand(self.shape)

    def combine(
        a: torch.Tensor, i: torch.Tensor, b: torch.Tensor, j: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        takes = later_wins(a, b)
        return torch.where(takes, b, a), torch.where(takes, j, i)

    values, indices = _scan((self.contiguous(), place.contiguous()), dim, combine)
    return values, indices


@TABLE.register("aten::cummax")
def cummax(self: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)

    The last of equal maxima, and NaN once there was one.
    """
    return _extremum(self, dim, lambda a, b: (b >= a) | (b != b))


@TABLE.register("aten::cummin")
def cummin(self: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)"""
    return _extremum(self, dim, lambda a, b: (b <= a) | (b != b))


def _log_add(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor]:
    """log(exp a + exp b), the larger one taken out; complex numbers are ordered by their real part."""
    if not a.is_complex():
        return (torch.logaddexp(a, b),)
    first = torch.real(a) >= torch.real(b)
    large, small = torch.where(first, a, b), torch.where(first, b, a)
    real = torch.real(large)
    both = torch.isinf(real) & (real == torch.real(small))
    infinite = torch.where(real < 0, large, torch.log(torch.exp(large) + torch.exp(small)))
    return (torch.where(both, infinite, large + torch.log1p(torch.exp(small - large))),)


def _wrapped(angle: torch.Tensor) -> torch.Tensor:
    return torch.atan2(torch.sin(angle), torch.cos(angle))


def _on_branch(values: torch.Tensor, result: torch.Tensor, dim: int) -> torch.Tensor:
    """The branch of the logarithm that adding one element after the other gives.

    A step adds an angle below pi / 2 to that of the larger of what came before and the new element: angles accumulate from
    where the new element was the larger one.
    """
    length, angle = values.shape[dim], torch.imag(result)
    before = aten.cat([aten.slice(result, dim, 0, 1), aten.slice(result, dim, 0, length - 1)], dim)
    place = torch.arange(length, device=values.device).view([-1 if d == dim else 1 for d in range(values.dim())])
    starts = (place == 0) | (torch.real(values) >= torch.real(before))
    step = _wrapped(angle - torch.imag(before))
    turned = aten.cumsum(torch.where(starts | ~torch.isfinite(step), 0.0, step), dim)
    start = torch.imag(values) + _wrapped(angle - torch.imag(values)) - turned
    last = cummax(torch.where(starts, place, 0), dim)[0]
    angle = torch.where(torch.isfinite(angle), aten.gather(start, dim, last) + turned, angle)
    return torch.complex(torch.real(result), angle)


@TABLE.register("aten::logcumsumexp", "aten::_logcumsumexp")
def logcumsumexp(self: torch.Tensor, dim: int) -> torch.Tensor:
    """logcumsumexp(Tensor self, int dim) -> Tensor"""
    if not (self.is_floating_point() or self.is_complex()):
        return NotImplemented
    if self.dim() == 0:
        return aten.clone(self)
    wide = accumulation_dtype(self.dtype)
    dim, values = dim % self.dim(), self.to(wide).contiguous()
    (result,) = _scan((values,), dim, _log_add)
    return _on_branch(values, result, dim) if self.is_complex() else result.to(self.dtype)
