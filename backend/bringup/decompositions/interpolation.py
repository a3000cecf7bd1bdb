"""Interpolation with antialiasing, and the gradients of every kind of interpolation.

Along each dimension an output element is a weighted sum of a few input elements, its taps; dimensions are treated one after the other.
The gradient gives each tap its weight's share of the output's gradient. Forward interpolation without antialiasing is PyTorch's own
decomposition, which tracing applies before any table is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bringup.decompositions.grid_sample import cubic
from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.memory_formats import in_format_of
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import along, take

TABLE = Decompositions("interpolation")
aten = torch.ops.aten

UNROLLED = 8
"""So many taps are added one by one; more are gathered first."""


@dataclass(frozen=True)
class Taps:
    """What each output element along one dimension reads: positions int64 [out, taps] and weights [out, taps].

    Where `exists` is given and false, a tap is none and its position is only valid.
    """

    positions: torch.Tensor
    weights: torch.Tensor
    exists: torch.Tensor | None = None


@dataclass(frozen=True)
class Line:
    """One dimension: `n` input elements, `out` output elements, and how they lie over each other."""

    n: Any
    out: Any
    align_corners: bool
    scale: float | None
    dtype: torch.dtype
    device: torch.device

    @property
    def step(self) -> Any:
        """How many input elements apart two output elements are."""
        if self.align_corners:
            return (self.n - 1) / (self.out - 1) if self.out > 1 else 0.0
        return 1.0 / self.scale if self.scale is not None and self.scale > 0 else self.n / self.out

    def numbers(self, count: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """0, 1, 2, ..."""
        return aten.arange(count, dtype=dtype or self.dtype, device=self.device)

    def sources(self) -> torch.Tensor:
        """The coordinate of each output element among the input elements' centres."""
        i = self.numbers(self.out)
        return i * self.step if self.align_corners else (i + 0.5) * self.step - 0.5


Kind = Callable[[Line], Taps]


def linear(line: Line) -> Taps:
    """The two elements around a coordinate; before the first one, that alone."""
    x = aten.clamp(line.sources(), 0, line.n - 1)
    first = aten.floor(x)
    t = x - first
    at = aten._to_copy(first, dtype=torch.int64)
    return Taps(aten.stack([at, aten.clamp_max(at + 1, line.n - 1)], 1), aten.stack([1 - t, t], 1))


def bicubic(line: Line) -> Taps:
    """The four elements around a coordinate; beyond the ends, the last one again."""
    x = line.sources()
    first = aten.floor(x)
    around = aten.unsqueeze(aten._to_copy(first, dtype=torch.int64), 1) + line.numbers(4, torch.int64) - 1
    return Taps(aten.clamp(around, 0, line.n - 1), aten.stack(cubic(x - first), 1))


def nearest(line: Line, offset: float = 0.0) -> Taps:
    """The element in which an output element begins (or, with an offset of a half, has its centre)."""
    i = line.numbers(line.out, torch.float32)
    step = aten.full([], line.step, dtype=torch.float32, device=line.device)
    same = isinstance(line.n, int) and isinstance(line.out, int) and line.n == line.out
    at = aten._to_copy(aten.floor(i if same else (i + offset) * step), dtype=torch.int64)
    at = aten.unsqueeze(aten.clamp_max(at, line.n - 1), 1)
    return Taps(at, aten.full(at.shape, 1, dtype=line.dtype, device=line.device))


def nearest_exact(line: Line) -> Taps:
    """The element in which an output element has its centre."""
    return nearest(line, 0.5)


def _triangle(x: torch.Tensor) -> torch.Tensor:
    return aten.clamp_min(1 - aten.abs(x), 0)


def _keys(x: torch.Tensor) -> torch.Tensor:
    """Keys' cubic with the parameter -0.5, which reproduces quadratics."""
    d, a = aten.abs(x), -0.5
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return aten.where(aten.lt(d, 1), inner, aten.where(aten.lt(d, 2), outer, 0.0))


def _lanczos(x: torch.Tensor) -> torch.Tensor:
    """sinc(x) sinc(x / 3) for x between -3 and 3."""
    inside = aten.bitwise_and(aten.ge(x, -3), aten.lt(x, 3))
    return aten.where(inside, aten.sinc(x) * aten.sinc(x / 3), 0.0)


def _antialiased(kernel: Callable[[torch.Tensor], torch.Tensor], width: int) -> Kind:
    """A kernel of so many elements, which is stretched where the output is coarser than the input; weights that add up to 1."""

    def taps(line: Line) -> Taps:
        stretch = torch.sym_max(line.step, 1.0)
        support = width / 2 * stretch
        centre = (line.numbers(line.out) + 0.5) * line.step
        first = aten._to_copy(aten.clamp_min(centre - support + 0.5, 0), dtype=torch.int64)
        end = aten.clamp_max(aten._to_copy(centre + support + 0.5, dtype=torch.int64), line.n)
        at = aten.unsqueeze(first, 1) + line.numbers(math.ceil(support) * 2 + 1, torch.int64)
        exists = aten.lt(at, aten.unsqueeze(end, 1))
        weight = kernel((aten._to_copy(at, dtype=line.dtype) - aten.unsqueeze(centre, 1) + 0.5) / stretch)
        weight = aten.where(exists, weight, 0.0)
        total = aten.sum(weight, [1], True)
        weight = aten.where(aten.eq(total, 0), weight, weight / total)
        return Taps(aten.clamp(at, 0, line.n - 1), weight, exists)

    return taps


def _view(matrix: torch.Tensor, dim: int) -> torch.Tensor:
    """[out, taps] where `out` is dimension `dim` of what the taps are read from and the taps are behind it."""
    return aten.view(matrix, [*matrix.shape, *[1] * (-dim - 1)])


def _columns(taps: Taps) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]] | None:
    """Positions, weights and existence of one tap after the other; None when there are too many for that."""
    count = taps.positions.shape[1]
    if not isinstance(count, int) or count > UNROLLED:
        return None
    parts = [taps.positions, taps.weights, taps.exists]
    return [tuple(None if p is None else aten.select(p, 1, t) for p in parts) for t in range(count)]  # type: ignore[misc]


def _interpolated(x: torch.Tensor, dim: int, taps: Taps) -> torch.Tensor:
    columns = _columns(taps)
    if columns is None:
        products = take(x, dim, taps.positions) * _view(taps.weights, dim)
        if taps.exists is not None:
            products = aten.where(_view(taps.exists, dim), products, 0)
        return aten.sum(products, [dim], dtype=x.dtype)
    total: Any = None
    for at, weight, exists in columns:
        product = take(x, dim, at) * along(weight, dim)
        product = product if exists is None else aten.where(along(exists, dim), product, 0)
        total = product if total is None else total + product
    return total


def _distributed(grad: torch.Tensor, dim: int, taps: Taps, n: Any) -> torch.Tensor:
    """The gradient of `_interpolated` by its `n` input elements along `dim`."""
    lead = grad.dim() + dim
    total = aten.full([*grad.shape[:lead], n, *grad.shape[lead + 1 :]], 0, dtype=grad.dtype, device=grad.device)
    columns = _columns(taps)
    if columns is None:
        shares = aten.unsqueeze(grad, lead + 1) * _view(taps.weights, dim)
        if taps.exists is not None:
            shares = aten.where(_view(taps.exists, dim), shares, 0)
        return aten.index_put(total, [None] * lead + [taps.positions], shares, True)
    for at, weight, exists in columns:
        share = grad * along(weight, dim)
        share = share if exists is None else aten.where(along(exists, dim), share, 0)
        total = aten.index_put(total, [None] * lead + [at], share, True)
    return total


def _fixed_point(x: torch.Tensor, dim: int, taps: Taps) -> torch.Tensor:
    """Bytes as eager's kernel interpolates them: 16-bit weights with as many fractional bits as the largest leaves room for.

    The number of bits is the largest p below 23 for which every round(w 2^q), q up to p, is below 2^15.
    """
    largest = aten.amax(taps.weights, [0, 1])
    powers = aten.pow(
        aten.full([], 2.0, dtype=torch.float64, device=x.device),
        aten.arange(1, 23, dtype=torch.float64, device=x.device),
    )
    fits = aten.lt(aten.floor(largest * powers + 0.5), 2.0**15)
    bits = aten.sum(fits, [0], dtype=torch.int64)
    scaled = taps.weights * aten.pow(
        aten.full([], 2.0, dtype=torch.float64, device=x.device), aten._to_copy(bits, dtype=torch.float64)
    )
    whole = aten._to_copy(aten.trunc(scaled + aten.where(aten.lt(scaled, 0), -0.5, 0.5)), dtype=torch.int64)
    total = _interpolated(x, dim, Taps(taps.positions, whole, taps.exists))
    half = aten.bitwise_left_shift(aten.full([], 1, dtype=torch.int64, device=x.device), bits - 1)
    return aten.clamp(aten.bitwise_right_shift(total + half, bits), 0, 255)


def _forward(
    self: torch.Tensor, size: Sequence[Any], align_corners: bool, scales: Sequence[float | None], kind: Kind
) -> torch.Tensor:
    """Rows, then columns; an image of bytes is rounded to bytes in between, as in eager."""
    is_bytes = self.dtype is torch.uint8
    value = aten._to_copy(self, dtype=torch.int64) if is_bytes else widened(self)
    for dim in range(-1, -len(size) - 1, -1):
        dtype = torch.float64 if is_bytes else value.dtype
        taps = kind(Line(self.shape[dim], size[dim], align_corners, scales[dim], dtype, self.device))
        value = _fixed_point(value, dim, taps) if is_bytes else _interpolated(value, dim, taps)
    return in_format_of(narrowed(value, self.dtype), self)


def _backward(
    grad: torch.Tensor, input_size: Sequence[Any], align_corners: bool, scales: Sequence[float | None], kind: Kind
) -> torch.Tensor:
    """Eager's gradients of cubic and Lanczos interpolation are contiguous; the others keep channels innermost."""
    total = widened(grad)
    for dim in range(-1, -len(scales) - 1, -1):
        line = Line(input_size[dim], grad.shape[dim], align_corners, scales[dim], total.dtype, grad.device)
        total = _distributed(total, dim, kind(line), line.n)
    result = narrowed(total, grad.dtype)
    return aten.contiguous(result) if kind in _CONTIGUOUS else in_format_of(result, grad)


ANTIALIASED: dict[str, Kind] = {
    "_upsample_bilinear2d_aa": _antialiased(_triangle, 2),
    "_upsample_bicubic2d_aa": _antialiased(_keys, 4),
    "_upsample_lanczos2d_aa": _antialiased(_lanczos, 6),
}
CORNERED: dict[str, Kind] = {
    "upsample_linear1d": linear,
    "upsample_bilinear2d": linear,
    "upsample_trilinear3d": linear,
    "upsample_bicubic2d": bicubic,
    **ANTIALIASED,
}
_CONTIGUOUS = (bicubic, ANTIALIASED["_upsample_bicubic2d_aa"], ANTIALIASED["_upsample_lanczos2d_aa"])
PLAIN: dict[str, Kind] = {
    **{f"upsample_nearest{k}d": nearest for k in (1, 2, 3)},
    **{f"_upsample_nearest_exact{k}d": nearest_exact for k in (1, 2, 3)},
}


def _add_forward(name: str, kind: Kind) -> None:
    @TABLE.register(f"aten::{name}")
    def antialiased(
        self: torch.Tensor,
        output_size: Sequence[Any],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> torch.Tensor:
        """_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, ...) -> Tensor"""
        return _forward(self, output_size, align_corners, (scales_h, scales_w), kind)


def _add_backward(name: str, kind: Kind, cornered: bool) -> None:
    @TABLE.register(f"aten::{name}_backward")
    def gradient(
        grad_output: torch.Tensor,
        output_size: Sequence[Any],
        input_size: Sequence[Any],
        *more: Any,
        **named: float | None,
    ) -> torch.Tensor:
        """upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, ...) -> Tensor"""
        if named:
            return NotImplemented
        align_corners, given = (more[0], more[1:]) if cornered else (False, more)
        scales = [*given, *[None] * (len(output_size) - len(given))]
        return _backward(grad_output, input_size, align_corners, scales, kind)


for _name, _kind in ANTIALIASED.items():
    _add_forward(_name, _kind)
for _name, _kind in CORNERED.items():
    _add_backward(_name, _kind, cornered=True)
for _name, _kind in PLAIN.items():
    _add_backward(_name, _kind, cornered=False)
