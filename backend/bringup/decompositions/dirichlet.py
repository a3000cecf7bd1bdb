"""The gradient of Dirichlet samples, component by component: that of a beta sample to its first parameter."""

from __future__ import annotations

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("dirichlet")
aten = torch.ops.aten

_TERMS = 256
_SERIES_UP_TO = 100.0  # the smaller parameter; beyond, the series needs more terms and the normal law is good to 3e-5
_TINY = 1e-300


@TABLE.register("aten::_dirichlet_grad")
def _dirichlet_grad(x: torch.Tensor, alpha: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor

    Implicit differentiation (Figurnov, Mohamed and Mnih 2018): -(dI/da) / p / (1 - x) for the beta distribution I of parameters
    a = `alpha` and b = `total` - a, with density p. Its relative error is below that of eager's kernel, whose approximations are
    good to some 5e-4.
    """
    dtype = torch.promote_types(torch.promote_types(x.dtype, alpha.dtype), total.dtype)
    x, a, t = torch.broadcast_tensors(*(aten._to_copy(v, dtype=torch.float64) for v in (x, alpha, total)))
    x, y = torch.clamp(x, min=_TINY), torch.clamp(1 - x, min=_TINY)
    b = t - a
    large = torch.minimum(a, b) > _SERIES_UP_TO
    series = _series(x, y, torch.where(large, 1.0, a), torch.where(large, 1.0, b))
    result = torch.where(large, _normal(x, y, torch.where(large, a, 1e3), torch.where(large, b, 1e3)), series)
    return aten._to_copy(result, dtype=dtype)


def _series(x: torch.Tensor, y: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """By the series of positive terms I = x^a y^b / B(a, b) sum of (a + b)_n / (a)_(n + 1) x^n (DLMF 8.17.8 and 15.8.1), term by term.

    Above 1/2 it is taken of the complement, in which x and y, a and b change places.
    """
    x, y, a, b = (aten.unsqueeze(v, -1) for v in (x, y, a, b))
    n = aten.arange(_TERMS, dtype=torch.float64, device=x.device)
    low = x <= 0.5
    base, first, t = torch.where(low, x, y), torch.where(low, a, b), a + b
    log_weight = torch.lgamma(t + n) - torch.lgamma(t) - torch.lgamma(first + n + 1) + torch.lgamma(first)
    slope = torch.log(x) + torch.digamma(t + n) - torch.digamma(torch.where(low, a + n + 1, a))
    total = aten.sum.dim_IntList(torch.exp(log_weight + n * torch.log(base)) * slope, [-1])
    low, x = aten.squeeze(low, -1), aten.squeeze(x, -1)
    return x * torch.where(low, -total, total)


def _normal(x: torch.Tensor, y: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """For large parameters log(x / y) is nearly normal; the expansion of Cornish and Fisher (1937) to its third cumulant.

    The cumulants of log(x / y) are psi(a) - psi(b), psi'(a) + psi'(b), psi''(a) - psi''(b).
    """
    variance, third = _trigamma(a) + _trigamma(b), _tetragamma(a) - _tetragamma(b)
    deviation = torch.sqrt(variance)
    w = (torch.log(x) - torch.log(y) - torch.digamma(a) + torch.digamma(b)) / deviation
    z = w - third / (6 * variance * deviation) * (w * w - 1)
    skew = (_pentagamma(a) * variance - third * _tetragamma(a)) / (6 * variance * variance)
    return x * (_trigamma(a) + z * _tetragamma(a) / (2 * deviation) + (z * z - 1) * skew)


def _trigamma(a: torch.Tensor) -> torch.Tensor:
    """psi'(a) for large a (DLMF 5.15.8); the next two are its derivatives."""
    return (1 + (0.5 + (1 - 1 / (5 * a * a)) / (6 * a)) / a) / a


def _tetragamma(a: torch.Tensor) -> torch.Tensor:
    return -(1 + (1 + (0.5 - 1 / (6 * a * a)) / a) / a) / (a * a)


def _pentagamma(a: torch.Tensor) -> torch.Tensor:
    return (2 + (3 + 2 / a) / a) / (a * a * a)
