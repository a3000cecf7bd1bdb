"""Special functions: the error function's family and entropies.

The coefficients were computed with 60 digits from the functions' values at Chebyshev nodes (Clenshaw, Chebyshev Series for
Mathematical Functions, 1962) and written as powers of a t in [-1, 1], which loses nothing here: their sum of absolute
values is a few times the largest value of the function.
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import horner, in_float

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
