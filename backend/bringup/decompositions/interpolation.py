"""Interpolation with antialiasing, and the gradients of every kind of interpolation.

Along each dimension an output element is a weighted sum of its taps; dimensions are treated one after the other.
The gradient gives each tap its weight's share of the output's gradient. Forward interpolation without antialiasing is PyTorch's own
decomposition, which tracing applies before any table is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.interpolation_taps import (
    CUBIC,
    LANCZOS,
    TRIANGLE,
    Kind,
    Line,
    Taps,
    bicubic,
    linear,
    nearest,
    nearest_exact,
)
from bringup.decompositions.memory_formats import in_format_of
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import along, take

TABLE = Decompositions("interpolation")
aten = torch.ops.aten

ANTIALIASED: dict[str, Kind] = {
    "_upsample_bilinear2d_aa": TRIANGLE,
    "_upsample_bicubic2d_aa": CUBIC,
    "_upsample_lanczos2d_aa": LANCZOS,
}
CORNERED: dict[str, Kind] = {
    "upsample_linear1d": linear,
    "upsample_bilinear2d": linear,
    "upsample_trilinear3d": linear,
    "upsample_bicubic2d": bicubic,
    **ANTIALIASED,
}
PLAIN: dict[str, Kind] = {
    **{f"upsample_nearest{k}d": nearest for k in (1, 2, 3)},
    **{f"_upsample_nearest_exact{k}d": nearest_exact for k in (1, 2, 3)},
}
_CONTIGUOUS = (bicubic, CUBIC, LANCZOS)

UNROLLED = 8
"""So many taps are added one by one; more are gathered first."""


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
    total = aten.full.default([*grad.shape[:lead], n, *grad.shape[lead + 1 :]], 0, dtype=grad.dtype, device=grad.device)
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
        aten.full.default([], 2.0, dtype=torch.float64, device=x.device),
        aten.arange(1, 23, dtype=torch.float64, device=x.device),
    )
    fits = aten.lt(aten.floor(largest * powers + 0.5), 2.0**15)
    bits = aten.sum(fits, [0], dtype=torch.int64)
    scaled = taps.weights * aten.pow(
        aten.full.default([], 2.0, dtype=torch.float64, device=x.device), aten._to_copy(bits, dtype=torch.float64)
    )
    whole = aten._to_copy(aten.trunc(scaled + aten.where(aten.lt(scaled, 0), -0.5, 0.5)), dtype=torch.int64)
    total = _interpolated(x, dim, Taps(taps.positions, whole, taps.exists))
    half = aten.bitwise_left_shift(aten.full.default([], 1, dtype=torch.int64, device=x.device), bits - 1)
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
        if self.dtype is torch.bool or (
            kind is LANCZOS and not (self.is_floating_point() or self.dtype is torch.uint8)
        ):
            return NotImplemented
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
