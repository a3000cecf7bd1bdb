"""Orthogonal polynomials whose degree is a tensor, by their three-term recurrences (DLMF 18.9) in a loop.

The loop runs to the largest degree, or until every value that goes on is NaN. Negative degrees give 0; degrees are truncated.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import in_float
from bringup.torch_internals import while_loop

TABLE = Decompositions("special_polynomials")
aten = torch.ops.aten

Step = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""The polynomial of degree k + 1 from k, x and those of degree k - 1 and k."""
Linear = Callable[[torch.Tensor], torch.Tensor]
Closed = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _operands(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both in one shape, contiguous; the degree as an integer."""
    x, n = torch.broadcast_tensors(x, n)
    degree = aten._to_copy(n, dtype=torch.int64)
    return aten.clone(x, memory_format=torch.contiguous_format), aten.clone(
        degree, memory_format=torch.contiguous_format
    )


def _recur(x: torch.Tensor, degree: torch.Tensor, first: torch.Tensor, step: Step) -> torch.Tensor:
    """The polynomial of each element's degree; `first` is that of degree 1, degree 0 is 1."""
    one = aten.full.default(x.shape, 1, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return one

    def goes_on(k: torch.Tensor, p: torch.Tensor, q: torch.Tensor, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return aten.amax(aten.bitwise_and(aten.lt(k, n), aten.eq(q, q)))

    def advance(
        k: torch.Tensor, p: torch.Tensor, q: torch.Tensor, x: torch.Tensor, n: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        active = aten.lt(k, n)
        return k + 1, torch.where(active, q, p), torch.where(active, step(k, x, p, q), q)

    start = aten.full.default([], 1, dtype=torch.int64, device=x.device)
    _, _, value = while_loop(goes_on, advance, (start, one, first), (x, degree))
    return torch.where(degree < 0, 0.0, torch.where(degree == 0, 1.0, value))


def _doubled(k: torch.Tensor, x: torch.Tensor, p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """The recurrence of all Chebyshev polynomials: 2 x q - p."""
    return (x + x) * q - p


def _signed(degree: torch.Tensor, even: torch.Tensor | float, odd: torch.Tensor | float) -> torch.Tensor:
    return torch.where(aten.bitwise_and(degree, 1) == 0, even, odd)


def _chebyshev(
    x: torch.Tensor, n: torch.Tensor, first: Linear, above: int, closed: Closed, at_one: Closed, at_minus_one: Closed
) -> torch.Tensor:
    """A Chebyshev polynomial: inside (-1, 1) the closed form `closed(angle, degree)` for degrees beyond `above`."""
    x, degree = _operands(x, n)
    shortcut = aten.bitwise_and(degree > above, aten.abs(x) < 1)
    looped = _recur(x, torch.where(shortcut, 0, degree), first(x), _doubled)
    real = aten._to_copy(degree, dtype=x.dtype)
    value = torch.where(shortcut, closed(aten.acos(x), real), looped)
    value = torch.where(x == 1, at_one(real, degree), torch.where(x == -1, at_minus_one(real, degree), value))
    return torch.where(degree < 0, 0.0, value)


def _chebyshev_t(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """cos(n a), where x = cos a (DLMF 18.5.1)."""
    return _chebyshev(
        x, n, lambda x: aten.clone(x), 6, lambda a, n: aten.cos(n * a),
        lambda real, n: aten.full_like(real, 1), lambda real, n: _signed(n, aten.full_like(real, 1), -1.0),
    )  # fmt: skip


def _chebyshev_u(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """sin((n + 1) a) / sin a (DLMF 18.5.2)."""
    return _chebyshev(
        x, n, lambda x: x + x, 8, lambda a, n: aten.sin((n + 1) * a) / aten.sin(a),
        lambda real, n: real + 1, lambda real, n: _signed(n, real + 1, -(real + 1)),
    )  # fmt: skip


def _chebyshev_v(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """cos((n + 1/2) a) / cos(a / 2) (Mason and Handscomb, Chebyshev Polynomials, 2003, 1.2.3)."""
    return _chebyshev(
        x, n, lambda x: x + x - 1, 8, lambda a, n: aten.cos((n + 0.5) * a) / aten.cos(a / 2),
        lambda real, n: aten.full_like(real, 1), lambda real, n: _signed(n, 2 * real + 1, -(2 * real + 1)),
    )  # fmt: skip


def _chebyshev_w(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """sin((n + 1/2) a) / sin(a / 2) (Mason and Handscomb, 1.2.3)."""
    return _chebyshev(
        x, n, lambda x: x + x + 1, 8, lambda a, n: aten.sin((n + 0.5) * a) / aten.sin(a / 2),
        lambda real, n: 2 * real + 1, lambda real, n: _signed(n, aten.full_like(real, 1), -1.0),
    )  # fmt: skip


def _shifted(
    polynomial: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The polynomial of 2 x - 1."""

    def shifted(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return polynomial(x + x - 1, n)

    return shifted


for _name, _polynomial in {"t": _chebyshev_t, "u": _chebyshev_u, "v": _chebyshev_v, "w": _chebyshev_w}.items():
    TABLE.register(f"aten::special_chebyshev_polynomial_{_name}")(in_float(_polynomial))
    TABLE.register(f"aten::special_shifted_chebyshev_polynomial_{_name}")(in_float(_shifted(_polynomial)))


def _hermite(x: torch.Tensor, n: torch.Tensor, first: Linear, step: Step) -> torch.Tensor:
    """Degrees that overflow in every case, beyond 128 in float32 and 512 in float64, give NaN, as in eager."""
    x, degree = _operands(x, n)
    limit = 512 if x.dtype == torch.float64 else 128
    beyond = degree > limit
    return torch.where(beyond, math.nan, _recur(x, torch.where(beyond, 0, degree), first(x), step))


@TABLE.register("aten::special_hermite_polynomial_h")
@in_float
def special_hermite_polynomial_h(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor"""
    return _hermite(x, n, lambda x: x + x, lambda k, x, p, q: (x + x) * q - (2 * k) * p)


@TABLE.register("aten::special_hermite_polynomial_he")
@in_float
def special_hermite_polynomial_he(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor"""
    return _hermite(x, n, lambda x: aten.clone(x), lambda k, x, p, q: x * q - k * p)


@TABLE.register("aten::special_laguerre_polynomial_l")
@in_float
def special_laguerre_polynomial_l(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor"""
    x, degree = _operands(x, n)
    bound = torch.where(x == 0, aten.minimum(degree, aten.full_like(degree, 0)), degree)
    return _recur(x, bound, 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * q - k * p) / (k + 1))


@TABLE.register("aten::special_legendre_polynomial_p")
@in_float
def special_legendre_polynomial_p(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor"""
    x, degree = _operands(x, n)
    unit = aten.abs(x) == 1
    looped = _recur(
        x, torch.where(unit, 0, degree), aten.clone(x), lambda k, x, p, q: ((2 * k + 1) * x * q - k * p) / (k + 1)
    )
    at_unit = torch.where(degree < 0, 0.0, torch.where(x > 0, 1.0, _signed(degree, aten.full_like(x, 1), -1.0)))
    return torch.where(unit, at_unit, looped)
