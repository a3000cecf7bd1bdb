"""The regularised incomplete gamma functions P and Q = 1 - P of Gil, Segura and Temme (SIAM J. Sci. Comput. 34, 2012).

Each element takes the value of one of four methods: the power series of P for x <= a; Legendre's continued fraction of Q
for x > a; the alternating series of Q where both are small; and Temme's uniform expansion for a >= 200 and x near a.
With that expansion the series and the fraction need some 200 terms at most, and their loops stop when all elements have converged.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import horner, in_float
from bringup.torch_internals import while_loop

TABLE = Decompositions("special_incomplete_gamma")
aten = torch.ops.aten

_UNIFORM = 200
_NEAR = 0.3
_SMALL = 1.1
_MOST_TERMS = 1000

# B_2j / (2j (2j - 1)): log of Gamma*(a) in odd powers of 1 / a (DLMF 5.11.1)
_STIRLING = tuple(
    n / d for n, d in ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400))
)

# Row k: Taylor coefficients of C_k(eta) (Temme, SIAM J. Math. Anal. 10, 1979), from C_0 = 1/mu - 1/eta and
# eta C_k = dC_(k-1)/deta + g_k eta/mu, where g_k makes C_k regular at 0; to 1e-17 for a >= 200 and |eta| <= 0.34.
_TEMME = (
    (
        -0.3333333333333333,
        0.08333333333333333,
        -0.014814814814814815,
        0.0011574074074074073,
        0.0003527336860670194,
        -0.0001787551440329218,
        3.919263178522438e-05,
        -2.185448510679992e-06,
        -1.85406221071516e-06,
        8.296711340953087e-07,
        -1.7665952736826078e-07,
        6.707853543401498e-09,
        1.0261809784240309e-08,
        -4.382036018453353e-09,
        9.14769958223679e-10,
    ),
    (
        -0.001851851851851852,
        -0.003472222222222222,
        0.0026455026455026454,
        -0.0009902263374485596,
        0.00020576131687242798,
        -4.018775720164609e-07,
        -1.8098550334489977e-05,
        7.64916091608111e-06,
        -1.6120900894563446e-06,
        4.647127802807434e-09,
        1.378633446915721e-07,
        -5.752545603517705e-08,
        1.1951628599778148e-08,
    ),
    (
        0.004133597883597883,
        -0.0026813271604938273,
        0.0007716049382716049,
        2.0093878600823047e-06,
        -0.0001073665322636516,
        5.2923448829120125e-05,
        -1.2760635188618728e-05,
        3.423578734096138e-08,
        1.3721957309062934e-06,
        -6.298992138380055e-07,
        1.4280614206064242e-07,
    ),
    (
        0.0006494341563786008,
        0.00022947209362139917,
        -0.0004691894943952557,
        0.00026772063206283885,
        -7.561801671883977e-05,
        -2.396505113867297e-07,
        1.1082654115347302e-05,
        -5.6749528269915965e-06,
        1.4230900732435883e-06,
    ),
    (
        -0.0008618882909167117,
        0.0007840392217200666,
        -0.0002990724803031902,
        -1.4638452578843418e-06,
        6.641498215465122e-05,
        -3.968365047179435e-05,
        1.1375726970678419e-05,
    ),
    (
        -0.00033679855336635813,
        -6.972813758365857e-05,
        0.0002772753244959392,
        -0.00019932570516188847,
    ),
    (
        0.0005313079364639922,
        -0.0005921664373536939,
    ),
)


def _log_gap(mu: torch.Tensor) -> torch.Tensor:
    """mu - log(1 + mu), near 0 by the series of log(1 + mu) = 2 atanh(r), r = mu / (2 + mu) (DLMF 4.6.4)."""
    r = mu / (mu + 2)
    square = r * r
    series = mu * r - 2 * r * square * horner([1 / (2 * k + 3) for k in range(17)], square)
    return torch.where(aten.abs(mu) < 0.5, series, mu - aten.log1p(mu))


def _prefactor(a: torch.Tensor, x: torch.Tensor, gap: torch.Tensor) -> torch.Tensor:
    """x^a exp(-x) / Gamma(a + 1); from 10 on exp(-a gap) / (sqrt(2 pi a) Gamma*(a)), where gap = mu - log(1 + mu)."""
    direct = aten.pow(aten.minimum(x, aten.full.default([], 1000, dtype=x.dtype, device=x.device)), a) * aten.exp(
        -x - aten.lgamma(a + 1)
    )
    stirling = horner(_STIRLING, 1 / (a * a)) / a
    return torch.where(a < 10, direct, aten.exp(-a * gap - stirling) * aten.rsqrt(a * (2 * math.pi)))


def _uniform(a: torch.Tensor, mu: torch.Tensor, gap: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """P and Q near x = a: erfc(-+ eta sqrt(a / 2)) / 2 -+ R, where eta^2 / 2 = gap has the sign of mu (DLMF 8.12.3)."""
    eta = aten.sign(mu) * aten.sqrt(2 * gap)
    inverse = 1 / a
    total = horner(_TEMME[-1], eta)
    for row in _TEMME[-2::-1]:
        total = total * inverse + horner(row, eta)
    rest = aten.exp(-a * gap) * aten.rsqrt(a * (2 * math.pi)) * total
    scaled = eta * aten.sqrt(a / 2)
    return aten.erfc(-scaled) / 2 - rest, aten.erfc(scaled) / 2 + rest


def _power_series(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... (DLMF 8.7.1 divided by its first term)."""
    eps = torch.finfo(x.dtype).eps / 4

    def goes_on(
        k: torch.Tensor, term: torch.Tensor, total: torch.Tensor, a: torch.Tensor, x: torch.Tensor
    ) -> torch.Tensor:
        return aten.bitwise_and(aten.amax(term > total * eps), k <= _MOST_TERMS)

    def advance(
        k: torch.Tensor, term: torch.Tensor, total: torch.Tensor, a: torch.Tensor, x: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        term = term * (x / (a + k))
        return k + 1, term, total + term

    first = aten.full.default(x.shape, 1, dtype=x.dtype, device=x.device)
    start = aten.full.default([], 1, dtype=torch.int64, device=x.device)
    return while_loop(goes_on, advance, (start, first, aten.clone(first)), (a, x))[2]


def _fraction(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))) by Lentz's method (Numerical Recipes 5.2, 6.2.7)."""
    eps = torch.finfo(x.dtype).eps

    def goes_on(
        k: torch.Tensor,
        c: torch.Tensor,
        d: torch.Tensor,
        value: torch.Tensor,
        step: torch.Tensor,
        a: torch.Tensor,
        x: torch.Tensor,
    ) -> torch.Tensor:
        return aten.bitwise_and(aten.amax(aten.abs(step - 1) > eps), k <= _MOST_TERMS)

    def advance(
        k: torch.Tensor,
        c: torch.Tensor,
        d: torch.Tensor,
        value: torch.Tensor,
        step: torch.Tensor,
        a: torch.Tensor,
        x: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        above = (a - k) * k
        below = x - a + (2 * k + 1)
        d = 1 / (above * d + below)
        c = below + above / c
        return k + 1, c, d, value * (c * d), c * d

    d = 1 / (x - a + 1)
    start = aten.full.default([], 1, dtype=torch.int64, device=x.device)
    large = aten.full.default(x.shape, 1e30, dtype=x.dtype, device=x.device)
    return while_loop(goes_on, advance, (start, large, d, aten.clone(d), aten.full_like(d, 0)), (a, x))[3]


def _small(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Q for small a and x: 1 - x^a / Gamma(a + 1) (1 + a sum of (-x)^n / (n! (a + n))) without the cancellation (DLMF 8.7.3)."""
    power = a * aten.log(x) - aten.lgamma(a + 1)
    total, term = aten.full_like(x, 0), aten.full_like(x, 1)
    for n in range(1, 20):
        term = term * (x * (-1 / n))
        total = total + term / (a + n)
    return -aten.expm1(power) - aten.exp(power) * a * total


def _ratios(self: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """P(a, x) and Q(a, x) for positive finite arguments."""
    a, x = (aten.clone(t, memory_format=torch.contiguous_format) for t in torch.broadcast_tensors(self, other))
    if x.numel() == 0:
        return x, x
    mu = (x - a) / a
    gap = _log_gap(mu)
    uniform = aten.bitwise_and(a >= _UNIFORM, aten.abs(mu) < _NEAR)
    right = aten.bitwise_and(x > a, x > _SMALL)
    ordinary = aten.bitwise_not(uniform)
    by_fraction = aten.bitwise_and(right, ordinary)
    by_series = aten.bitwise_and(aten.bitwise_not(right), ordinary)
    scale = _prefactor(a, x, gap)
    p = scale * _power_series(torch.where(by_series, a, 1.0), torch.where(by_series, x, 0.0))
    q = scale * a * _fraction(torch.where(by_fraction, a, 1.0), torch.where(by_fraction, x, 2.0))
    near_p, near_q = _uniform(a, mu, gap)
    small = aten.bitwise_and(x <= _SMALL, a < _SMALL)
    p_value = torch.where(uniform, near_p, torch.where(by_fraction, 1 - q, p))
    q_value = torch.where(uniform, near_q, torch.where(by_fraction, q, torch.where(small, _small(a, x), 1 - p)))
    return p_value, q_value


def _finished(
    a: torch.Tensor, x: torch.Tensor, value: torch.Tensor, at_zero: float, at_infinity: float
) -> torch.Tensor:
    """The limits: x = 0 or infinite a against infinite x or a = 0; NaN where both are so, and below 0."""
    value = torch.where(x == math.inf, at_infinity, value)
    value = torch.where(a == math.inf, torch.where(x == math.inf, math.nan, aten.full_like(value, at_zero)), value)
    value = torch.where(x == 0, at_zero, value)
    value = torch.where(a == 0, torch.where(x > 0, at_infinity, aten.full_like(value, math.nan)), value)
    return torch.where(aten.bitwise_or(x < 0, a < 0), math.nan, value)


@TABLE.register("aten::igamma")
@in_float
def igamma(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """igamma(Tensor self, Tensor other) -> Tensor"""
    return _finished(self, other, _ratios(self, other)[0], 0.0, 1.0)


@TABLE.register("aten::igammac")
@in_float
def igammac(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """igammac(Tensor self, Tensor other) -> Tensor"""
    return _finished(self, other, _ratios(self, other)[1], 1.0, 0.0)
