"""The Airy function.

The coefficients were computed with 60 digits from the functions' values at Chebyshev nodes (Clenshaw, Chebyshev Series for
Mathematical Functions, 1962) and written as powers of a t in [-1, 1], which loses nothing here: their sum of absolute
values is a few times the largest value of the function.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import chebyshev, horner, in_float

TABLE = Decompositions("special_airy")
aten = torch.ops.aten

# Ai(x) in t = (2 x + 3) / 7 for -5 <= x <= 2, by Chebyshev polynomials
_AIRY_NEAR = (
    0.15168947628223672,
    -0.005228692408472365,
    -0.007183007563342123,
    -0.2750085825170078,
    0.15267285652736612,
    0.11299722901833571,
    -0.12930163519980795,
    0.021717950423082666,
    0.024911850702736413,
    -0.01433585742189573,
    0.000696689451639598,
    0.001974398933529019,
    -0.0007230393972252199,
    -1.6112414526177467e-05,
    8.133273673249939e-05,
    -2.0775365813975462e-05,
    -1.6054762687164758e-06,
    2.0560158255601387e-06,
    -3.825520517284178e-07,
    -4.913870596184178e-08,
    3.514168642051892e-08,
    -4.846385010860496e-09,
    -8.897812059422213e-10,
    4.329786248648808e-10,
    -4.414745597439301e-11,
    -1.1096862995764342e-11,
    4.024832028797832e-12,
    -2.9609936249846454e-13,
    -1.0257635127287476e-13,
    2.920579876829024e-14,
    -1.4619955511486232e-15,
    -7.35505053091767e-16,
    1.6986548408182807e-16,
)

# 2 sqrt(pi) x^(1/4) exp(z) Ai(x) in t = 2 z(2) / z - 1 above 2, where z = 2/3 x^(3/2)
_AIRY_FAR = (
    0.983679282828043,
    -0.014613458724023217,
    0.0014132014717029575,
    -0.0002278522136910503,
    4.846334053382966e-05,
    -1.2354390686945676e-05,
    3.5878329689095155e-06,
    -1.1510261131203217e-06,
    3.9970880001578955e-07,
    -1.4812065561005197e-07,
    5.8020341371436036e-08,
    -2.3820808462967335e-08,
    9.984700470064157e-09,
    -4.334633626191562e-09,
    2.417112863971864e-09,
    -1.2787487327828507e-09,
    -7.598201853112061e-11,
    2.0119706569032905e-10,
    6.200741512453467e-10,
    -4.349436323146175e-10,
    -2.499121453926284e-10,
    1.8009401491463617e-10,
    8.420330221634052e-11,
    -5.44000060097495e-11,
)

# the factors P and z Q of the phase below -5 in t = 2 (z(5) / z)^2 - 1
_AIRY_P = (
    0.9996702731603566,
    -0.0003254319872640143,
    4.128666158294696e-06,
    -1.542112034842239e-07,
    1.067342663285596e-08,
    -1.1119337986572293e-09,
    1.5522262548635303e-10,
    -2.7051883478257475e-11,
    5.602889049196218e-12,
    -1.2552086884253272e-12,
    3.1998747979878037e-13,
    -1.5179090444882385e-13,
    5.2727784242470915e-14,
)
_AIRY_Q = (
    0.06911133919898425,
    -0.0003247868744479707,
    7.854002446826036e-06,
    -4.215741963300471e-07,
    3.7225332370846745e-08,
    -4.636455901462674e-09,
    7.433297108253922e-10,
    -1.445847358438312e-10,
    3.272877827652237e-11,
    -8.379906510740823e-12,
    2.4534608074407053e-12,
    -7.791454007942917e-13,
    1.746226068459655e-13,
    -4.8598113545860894e-14,
    7.036258411636833e-14,
    -3.147397232889125e-14,
)


@TABLE.register("aten::special_airy_ai")
@in_float
def special_airy_ai(x: torch.Tensor) -> torch.Tensor:
    """special_airy_ai(Tensor x) -> Tensor

    Asymptotic forms with slow factors (DLMF 9.7.5 and 9.7.9) outside [-5, 2]; 0 where it underflows, NaN at infinity.
    """
    size = aten.abs(x)
    root = aten.sqrt(size)
    z = size * root * (2 / 3)
    fourth = aten.rsqrt(root * math.pi)
    decay = horner(_AIRY_FAR, (2 * 2 / 3 * 2**0.5 * 2) / z - 1) * aten.exp(-z) * fourth / 2
    inverse = (2 * 5 / 3 * 5**0.5) / z
    t = 2 * inverse * inverse - 1
    cos, sin = aten.cos(z), aten.sin(z)
    wave = horner(_AIRY_P, t) * (cos + sin) + horner(_AIRY_Q, t) / z * (sin - cos)
    outside = torch.where(x > 0, decay, wave * fourth * math.sqrt(0.5))
    inside = chebyshev(_AIRY_NEAR, (2 * x + 3) / 7)
    value = torch.where(x < -5, outside, torch.where(x > 2, outside, inside))
    return torch.where(size == math.inf, math.nan, torch.where(x > 103.892, 0.0, value))
