"""Modified Bessel functions, orders 0 and 1, and the same scaled by exp(-|x|) or exp(x).

The first kind in t = x / 4 - 1 up to 8 and t = 16 / x - 1 above; the second kind by its series (DLMF 10.31) up to 2 and
in t = 4 / x - 1 above.

The coefficients were computed with 60 digits from the functions' values at Chebyshev nodes (Clenshaw, Chebyshev Series for
Mathematical Functions, 1962) and written as powers of a t in [-1, 1], which loses nothing here: their sum of absolute
values is a few times the largest value of the function.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import horner, in_float

TABLE = Decompositions("special_bessel_modified")
aten = torch.ops.aten

# exp(-x) I0(x) and exp(-x) (1 + x) I1(x) / x up to 8
_I0_NEAR = (
    0.2070019212239867,
    -0.11300432688620536,
    0.09451562853995103,
    -0.08904344136077755,
    0.08734341617552313,
    -0.08496338091541732,
    0.07927522590716347,
    -0.06954119563168235,
    0.05677703201991695,
    -0.0429859492954222,
    0.030177912022978357,
    -0.019682655791721182,
    0.011960077907026221,
    -0.006792394790940051,
    0.003617126448897043,
    -0.0018119030567637056,
    0.0008563152748272306,
    -0.00038286526498299526,
    0.00016240542162878106,
    -6.556805964401791e-05,
    2.520232727107692e-05,
    -9.183742586936203e-06,
    3.2293390826404927e-06,
    -1.142045323881917e-06,
    3.675842926555429e-07,
    -8.591406444264668e-08,
    2.6265363151970112e-08,
    -1.6316042856792757e-08,
    4.470516727511741e-09,
)
_I1_NEAR = (
    0.22343854937804417,
    -0.12687085064589626,
    0.09579064742889315,
    -0.0701826313910656,
    0.04490659374371035,
    -0.021330581282267738,
    0.0022527061987688,
    0.010341512897822801,
    -0.01625533730186514,
    0.016887521410477543,
    -0.014365426172891516,
    0.010663010750659297,
    -0.007109459547197604,
    0.004328670474105653,
    -0.002432935625967106,
    0.0012721896970158434,
    -0.0006226001029699012,
    0.0002865206145630113,
    -0.00012452184310003615,
    5.132709362060902e-05,
    -2.008128376793675e-05,
    7.426573765602687e-06,
    -2.647318914535916e-06,
    9.500871403186308e-07,
    -3.089207839359041e-07,
    7.205661511858109e-08,
    -2.2256170847391023e-08,
    1.4140586516294558e-08,
    -3.898645172680827e-09,
)

# exp(-x) sqrt(x) I(x) above 8
_I0_FAR = (
    0.4021765094450081,
    0.0033605519836678614,
    0.0001362160743919305,
    1.1143033790932038e-05,
    1.4838475658279249e-06,
    2.9735985885673923e-07,
    8.872219737904054e-08,
    3.932584334552952e-08,
    2.1548377974791598e-08,
    7.55469188124881e-09,
    -6.747657956107541e-09,
    -1.3408917540089745e-08,
    -5.4047715675798986e-09,
    7.552583062123396e-09,
    7.4304646503252865e-09,
    -3.505966530879349e-09,
    -5.953569438264673e-09,
    1.5200816953924414e-09,
    3.637954635900889e-09,
    -5.715843864202832e-10,
    -1.6189806836245337e-09,
    1.527920269498204e-10,
    4.5770876316430635e-10,
    -2.0260604287414417e-11,
    -6.067631570602082e-11,
)
_I1_FAR = (
    0.38939845902587233,
    -0.009749577193235737,
    -0.00021923576383388928,
    -1.5038547200567216e-05,
    -1.8349101326980946e-06,
    -3.483855761044295e-07,
    -1.0001288294864884e-07,
    -4.312917729178349e-08,
    -2.3373928208142642e-08,
    -8.427766093735185e-09,
    6.734464815301609e-09,
    1.4034238782067188e-08,
    5.974437608040204e-09,
    -7.64239413436357e-09,
    -7.888351507861937e-09,
    3.4262341490078123e-09,
    6.242741219786225e-09,
    -1.438725053304119e-09,
    -3.794670896208111e-09,
    5.295625441161379e-10,
    1.6848984479703649e-09,
    -1.401162517977108e-10,
    -4.758818838703288e-10,
    1.8515118828853715e-11,
    6.305965197149121e-11,
)

# exp(x) sqrt(x) K(x) above 2
_K0_FAR = (
    1.2185953385133905,
    -0.03107146182488952,
    0.0030328918102753206,
    -0.0004797690567662314,
    9.95605474202942e-05,
    -2.4735204561466906e-05,
    7.002245645755651e-06,
    -2.191177788015528e-06,
    7.427801232190096e-07,
    -2.6890662472901614e-07,
    1.02954317593912e-07,
    -4.133923052104385e-08,
    1.7047535884249698e-08,
    -7.286380907337665e-09,
    3.808399859919043e-09,
    -1.9309444875845705e-09,
    4.757544705776374e-11,
    1.7887095838476482e-10,
    8.133913205464114e-10,
    -5.541051446065683e-10,
    -3.119936129682105e-10,
    2.2137580975910077e-10,
    1.0926983537268735e-10,
    -6.910453875670571e-11,
)
_K1_FAR = (
    1.363151890371342,
    0.10334973775386523,
    -0.005566729880074588,
    0.0007357241549081501,
    -0.00013959021956272223,
    3.284386555825453e-05,
    -8.961207387750025e-06,
    2.730041433569803e-06,
    -9.067087633371393e-07,
    3.2298119177151824e-07,
    -1.2203186351938403e-07,
    4.8461952200091865e-08,
    -1.9817577141591116e-08,
    8.40938756536177e-09,
    -4.331939985658629e-09,
    2.1757782025837176e-09,
    -8.336227195991457e-11,
    -1.7982138496175016e-10,
    -8.908596710923906e-10,
    6.042482293782838e-10,
    3.3867804167808003e-10,
    -2.399376595899464e-10,
    -1.1931668393112158e-10,
    7.52479548635394e-11,
)

_EULER = 0.5772156649015329
_PSI = [-_EULER + sum(1 / j for j in range(1, k + 1)) for k in range(16)]  # digamma(k + 1), DLMF 5.4.14
_FACTORIAL = [math.factorial(k) for k in range(17)]


@TABLE.register("aten::special_i0e")
@in_float
def special_i0e(self: torch.Tensor) -> torch.Tensor:
    """special_i0e(Tensor self) -> Tensor"""
    x = aten.abs(self)
    return torch.where(x <= 8, horner(_I0_NEAR, x / 4 - 1), horner(_I0_FAR, 16 / x - 1) * aten.rsqrt(x))


@TABLE.register("aten::special_i1e")
@in_float
def special_i1e(self: torch.Tensor) -> torch.Tensor:
    """special_i1e(Tensor self) -> Tensor"""
    x = aten.abs(self)
    far = aten.sign(self) * horner(_I1_FAR, 16 / x - 1) * aten.rsqrt(x)
    return torch.where(x <= 8, self * horner(_I1_NEAR, x / 4 - 1) / (1 + x), far)


@TABLE.register("aten::i0", "aten::special_modified_bessel_i0")
@in_float
def i0(self: torch.Tensor) -> torch.Tensor:
    """i0(Tensor self) -> Tensor"""
    return aten.exp(aten.abs(self)) * special_i0e(self)


@TABLE.register("aten::special_i1", "aten::special_modified_bessel_i1")
@in_float
def special_i1(self: torch.Tensor) -> torch.Tensor:
    """special_i1(Tensor self) -> Tensor"""
    return aten.exp(aten.abs(self)) * special_i1e(self)


def _series(order: int, x: torch.Tensor) -> torch.Tensor:
    """K0 or K1 up to 2: DLMF 10.31.1 and 10.31.2 with (x/2)^2 in both power series."""
    square, log = x * x / 4, aten.log(x / 2)
    terms = range(14)
    if order == 0:
        first = horner([1 / _FACTORIAL[k] ** 2 for k in terms], square)
        return horner([_PSI[k] / _FACTORIAL[k] ** 2 for k in terms], square) - log * first
    first = horner([0.5 / (_FACTORIAL[k] * _FACTORIAL[k + 1]) for k in terms], square)
    second = horner([0.25 * (_PSI[k] + _PSI[k + 1]) / (_FACTORIAL[k] * _FACTORIAL[k + 1]) for k in terms], square)
    return 1 / x + x * (log * first - second)


def _second_kind(order: int, x: torch.Tensor, scaled: bool) -> torch.Tensor:
    near, far = _series(order, x), horner(_K0_FAR if order == 0 else _K1_FAR, 4 / x - 1) * aten.rsqrt(x)
    value = torch.where(x <= 2, near * aten.exp(x), far) if scaled else torch.where(x <= 2, near, far * aten.exp(-x))
    return torch.where(x < 0, math.nan, torch.where(x == 0, math.inf, value))


@TABLE.register("aten::special_modified_bessel_k0")
@in_float
def special_modified_bessel_k0(self: torch.Tensor) -> torch.Tensor:
    """special_modified_bessel_k0(Tensor self) -> Tensor"""
    return _second_kind(0, self, scaled=False)


@TABLE.register("aten::special_modified_bessel_k1")
@in_float
def special_modified_bessel_k1(self: torch.Tensor) -> torch.Tensor:
    """special_modified_bessel_k1(Tensor self) -> Tensor"""
    return _second_kind(1, self, scaled=False)


@TABLE.register("aten::special_scaled_modified_bessel_k0")
@in_float
def special_scaled_modified_bessel_k0(x: torch.Tensor) -> torch.Tensor:
    """special_scaled_modified_bessel_k0(Tensor x) -> Tensor"""
    return _second_kind(0, x, scaled=True)


@TABLE.register("aten::special_scaled_modified_bessel_k1")
@in_float
def special_scaled_modified_bessel_k1(x: torch.Tensor) -> torch.Tensor:
    """special_scaled_modified_bessel_k1(Tensor x) -> Tensor"""
    return _second_kind(1, x, scaled=True)
