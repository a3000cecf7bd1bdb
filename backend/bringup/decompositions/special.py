"""Special functions: the error function's family, entropies, and the Airy function.

The coefficients were computed with 60 digits from the functions' values at Chebyshev nodes (Clenshaw, Chebyshev Series for
Mathematical Functions, 1962) and written as powers of a t in [-1, 1], which loses nothing here: their sum of absolute
values is a few times the largest value of the function.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import chebyshev, horner, in_float

TABLE = Decompositions("special")
aten = torch.ops.aten

# (1 + 2 x) exp(x^2) erfc(x) in t = (x - 15/4) / (x + 15/4)
_ERFCX = (
    1.2375126308378275,
    -0.14024059858554697,
    0.0035854154854644293,
    0.0822767384901452,
    -0.10880393014174886,
    0.09230432116037748,
    -0.05869339858963677,
    0.028362277418956406,
    -0.009746579558029276,
    0.0017556258528952954,
    0.0002937136655913448,
    -0.0002901540805408417,
    5.164909889268241e-05,
    2.238423915508223e-05,
    -1.1444146237700524e-05,
    -9.73559896736775e-07,
    1.751637648849062e-06,
    -5.7218230603224086e-08,
    -2.5866850716155884e-07,
    2.3263508708859124e-08,
    3.8675334242222354e-08,
    -3.744210080962018e-09,
    -5.1739902140113095e-09,
    3.1114333809799254e-10,
    4.2514714447963895e-10,
)

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


@TABLE.register("aten::special_entr")
@in_float
def special_entr(self: torch.Tensor) -> torch.Tensor:
    """special_entr(Tensor self) -> Tensor

    -x log x; 0 at 0, -inf below, NaN at NaN.
    """
    below = torch.where(self == 0, 0.0, torch.where(self < 0, -math.inf, self))
    return torch.where(self > 0, -self * aten.log(self), below)


@TABLE.register("aten::special_erfcx")
@in_float
def special_erfcx(self: torch.Tensor) -> torch.Tensor:
    """special_erfcx(Tensor self) -> Tensor

    Shepherd and Laframboise (Math. Comp. 36, 1981) for |x|; 2 exp(x^2) - erfcx(-x) below 0.
    """
    x = aten.abs(self)
    scaled = horner(_ERFCX, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)
    return torch.where(self < 0, 2 * aten.exp(self * self) - scaled, scaled)


@TABLE.register("aten::special_log_ndtr")
@in_float
def special_log_ndtr(self: torch.Tensor) -> torch.Tensor:
    """special_log_ndtr(Tensor self) -> Tensor

    log(erfc(-x / sqrt 2) / 2); below -1 from erfcx, which does not underflow (DLMF 7.2.3).
    """
    t = self * math.sqrt(0.5)
    return torch.where(self < -1, aten.log(special_erfcx(-t) / 2) - t * t, aten.log1p(-aten.erfc(t) / 2))


_NDTRI = (
    (
        (
            3.3871328727963666080e0,
            1.3314166789178437745e2,
            1.9715909503065514427e3,
            1.3731693765509461125e4,
            4.5921953931549871457e4,
            6.7265770927008700853e4,
            3.3430575583588128105e4,
            2.5090809287301226727e3,
        ),
        (
            1.0,
            4.2313330701600911252e1,
            6.8718700749205790830e2,
            5.3941960214247511077e3,
            2.1213794301586595867e4,
            3.9307895800092710610e4,
            2.8729085735721942674e4,
            5.2264952788528545610e3,
        ),
    ),
    (
        (
            1.42343711074968357734e0,
            4.63033784615654529590e0,
            5.76949722146069140550e0,
            3.64784832476320460504e0,
            1.27045825245236838258e0,
            2.41780725177450611770e-1,
            2.27238449892691845833e-2,
            7.74545014278341407640e-4,
        ),
        (
            1.0,
            2.05319162663775882187e0,
            1.67638483018380384940e0,
            6.89767334985100004550e-1,
            1.48103976427480074590e-1,
            1.51986665636164571966e-2,
            5.47593808499534494600e-4,
            1.05075007164441684324e-9,
        ),
    ),
    (
        (
            6.65790464350110377720e0,
            5.46378491116411436990e0,
            1.78482653991729133580e0,
            2.96560571828504891230e-1,
            2.65321895265761230930e-2,
            1.24266094738807843860e-3,
            2.71155556874348757815e-5,
            2.01033439929228813265e-7,
        ),
        (
            1.0,
            5.99832206555887937690e-1,
            1.36929880922735805310e-1,
            1.48753612908506148525e-2,
            7.86869131145613259100e-4,
            1.84631831751005468180e-5,
            1.42151175831644588870e-7,
            2.04426310338993978564e-15,
        ),
    ),
)


@TABLE.register("aten::special_ndtri")
@in_float
def special_ndtri(self: torch.Tensor) -> torch.Tensor:
    """special_ndtri(Tensor self) -> Tensor

    The rational approximations PPND16 of Wichura, Algorithm AS 241, Applied Statistics 37 (1988).
    """
    middle = self - 0.5
    tail = torch.where(middle < 0, self, 1 - self)
    root = aten.sqrt(-aten.log(tail))
    parts = ((0.180625 - middle * middle), root - 1.6, root - 5.0)
    centre, near, far = (horner(p, t) / horner(q, t) for (p, q), t in zip(_NDTRI, parts, strict=True))
    outer = torch.where(root <= 5, near, torch.where(root == math.inf, math.inf, far))
    outer = torch.where(middle < 0, -outer, outer)
    return torch.where(aten.abs(middle) <= 0.425, centre * middle, outer)


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
