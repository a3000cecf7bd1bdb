"""Bessel functions of the first and second kind, orders 0 and 1.

Up to 8 in t = x^2 / 32 - 1; above it by Hankel's phase (DLMF 10.17(i)), with its two slow factors P and Q in t = 2 (8 / x)^2 - 1.

The coefficients were computed with 60 digits from the functions' values at Chebyshev nodes (Clenshaw, Chebyshev Series for
Mathematical Functions, 1962) and written as powers of a t in [-1, 1], which loses nothing here: their sum of absolute
values is a few times the largest value of the function.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import horner, in_float

TABLE = Decompositions("special_bessel")
aten = torch.ops.aten

_J0 = (
    0.04582966485981377,
    0.9303012472958572,
    -0.6484692830871837,
    -0.8080888076696872,
    1.0383794611437211,
    -0.5074680458471,
    0.14598884856759264,
    -0.028472718610882047,
    0.004058078989140991,
    -0.0004435459224311503,
    3.8473197855944365e-05,
    -2.717749223632098e-06,
    1.5956109104549218e-07,
    -7.91532308295207e-09,
    3.3634475788173604e-10,
    -1.243301171273326e-11,
    4.0037632815796753e-13,
)

# J1(x) / x
_J1 = (
    -0.05814382795599107,
    0.08105866038589796,
    0.15151665143806636,
    -0.2595948652859303,
    0.15858376432721838,
    -0.05474581821284722,
    0.012456814392263375,
    -0.0020290394945705996,
    0.0002494945813597261,
    -2.404574865968694e-05,
    1.8684526037206013e-06,
    -1.196708186787801e-07,
    6.431190177265836e-09,
    -2.943013798001659e-10,
    1.1658972367678622e-11,
    -4.0045728425886457e-13,
)

# Y0(x) - 2/pi log(x) J0(x)
_Y0 = (
    -0.382250654459425,
    -0.8284358903604587,
    1.6470964788745466,
    0.14412632369302475,
    -1.0775477338215995,
    0.6721770783431679,
    -0.21895747096171628,
    0.046367047681375125,
    -0.00702574105727097,
    0.000806158605961636,
    -7.279541882454115e-05,
    5.3213188103997145e-06,
    -3.2185078445935923e-07,
    1.6390875014077404e-08,
    -7.13046146536789e-10,
    2.6926938054524057e-11,
    -8.840112096073101e-13,
)

# (Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x
_Y1 = (
    0.07075985882118005,
    -0.24337743079193114,
    0.02336757172099348,
    0.23507209206669755,
    -0.19639839859930203,
    0.07854786922242532,
    -0.01962875683311711,
    0.0034224907399188495,
    -0.0004438173434420147,
    4.467433012646365e-05,
    -3.601000022590458e-06,
    2.3804930420514178e-07,
    -1.3153147367094951e-08,
    6.169688029066965e-10,
    -2.499531546171249e-11,
    8.760001143977853e-13,
)

# P of order 0 and 1, and x Q
_P0 = (
    0.9994572757882519,
    -0.0005363673192129672,
    6.137416080109497e-06,
    -2.0527448261170675e-07,
    1.280376144080092e-08,
    -1.2121098178951377e-09,
    1.5500565496632596e-10,
    -2.491146535471666e-11,
    4.786995821368028e-12,
    -1.0157485021065676e-12,
    2.4531772967345006e-13,
    -1.0251790052831013e-13,
    3.339452259070809e-14,
)
_Q0 = (
    -0.12444091103610815,
    0.0005466519279475266,
    -1.1817110661200976e-05,
    5.684971881753781e-07,
    -4.534972837363434e-08,
    5.146231602705606e-09,
    -7.5763304988972e-10,
    1.3623497617833053e-10,
    -2.8707211071105146e-11,
    6.951785915752245e-12,
    -1.873640743543296e-12,
    4.605060470396763e-13,
    -1.3137515498826537e-13,
    1.0185094098694355e-13,
    -4.0574096424030336e-14,
)
_P1 = (
    1.0009070262780821,
    0.0008988049416705183,
    -7.9596946984383e-06,
    2.453676633366693e-07,
    -1.4708512991275258e-08,
    1.3602969253877949e-09,
    -1.713107485294131e-10,
    2.72345126828134e-11,
    -5.191158004646548e-12,
    1.0954826479277623e-12,
    -2.6335760672461096e-13,
    1.0923713653079462e-13,
    -3.5455617466606254e-14,
)
_Q1 = (
    0.3742149922195918,
    -0.0007697167057643706,
    1.4569614809851411e-05,
    -6.633568561050814e-07,
    5.136105997071193e-08,
    -5.720890888840857e-09,
    8.316077350038262e-10,
    -1.4816588916791194e-10,
    3.100364837230575e-11,
    -7.465104477698295e-12,
    2.002728774766585e-12,
    -4.91574062967655e-13,
    1.3996264453471973e-13,
    -1.0759215471978615e-13,
    4.275621822194818e-14,
)


def _phase(x: torch.Tensor, order: int) -> tuple[torch.Tensor, torch.Tensor]:
    """J and Y above 8: sqrt(2 / (pi x)) (P cos c - Q sin c) and (P sin c + Q cos c), where c = x - (2 order + 1) pi / 4.

    The angle is taken apart so that only x itself is reduced modulo 2 pi.
    """
    t = 128 / (x * x) - 1
    p, q = (horner(_P0, t), horner(_Q0, t) / x) if order == 0 else (horner(_P1, t), horner(_Q1, t) / x)
    cos, sin = aten.cos(x), aten.sin(x)
    c, s = (cos + sin, sin - cos) if order == 0 else (sin - cos, -(sin + cos))
    size = aten.rsqrt(x * math.pi)
    return size * (p * c - q * s), size * (p * s + q * c)


@TABLE.register("aten::special_bessel_j0")
@in_float
def special_bessel_j0(self: torch.Tensor) -> torch.Tensor:
    """special_bessel_j0(Tensor self) -> Tensor"""
    x = aten.abs(self)
    return torch.where(x <= 8, horner(_J0, x * x / 32 - 1), _phase(x, 0)[0])


@TABLE.register("aten::special_bessel_j1")
@in_float
def special_bessel_j1(self: torch.Tensor) -> torch.Tensor:
    """special_bessel_j1(Tensor self) -> Tensor"""
    x = aten.abs(self)
    return torch.where(x <= 8, self * horner(_J1, x * x / 32 - 1), aten.sign(self) * _phase(x, 1)[0])


def _from_zero(x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """A function of the second kind: -inf at 0, NaN below."""
    return torch.where(x < 0, math.nan, torch.where(x == 0, -math.inf, value))


@TABLE.register("aten::special_bessel_y0")
@in_float
def special_bessel_y0(self: torch.Tensor) -> torch.Tensor:
    """special_bessel_y0(Tensor self) -> Tensor"""
    t = self * self / 32 - 1
    small = horner(_Y0, t) + aten.log(self) * horner(_J0, t) * (2 / math.pi)
    return _from_zero(self, torch.where(self <= 8, small, _phase(self, 0)[1]))


@TABLE.register("aten::special_bessel_y1")
@in_float
def special_bessel_y1(self: torch.Tensor) -> torch.Tensor:
    """special_bessel_y1(Tensor self) -> Tensor"""
    t = self * self / 32 - 1
    small = self * horner(_Y1, t) + (aten.log(self) * self * horner(_J1, t) - 1 / self) * (2 / math.pi)
    return _from_zero(self, torch.where(self <= 8, small, _phase(self, 1)[1]))


@TABLE.register("aten::special_spherical_bessel_j0")
@in_float
def special_spherical_bessel_j0(self: torch.Tensor) -> torch.Tensor:
    """special_spherical_bessel_j0(Tensor self) -> Tensor

    sin(x) / x (DLMF 10.49.3), by its power series below 1/2; 0 at infinity.
    """
    series = horner([(-1) ** k / math.factorial(2 * k + 1) for k in range(8)], self * self)
    far = torch.where(aten.abs(self) == math.inf, 0.0, aten.sin(self) / self)
    return torch.where(aten.abs(self) < 0.5, series, far)
