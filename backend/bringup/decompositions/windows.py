"""Window functions.

F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc. IEEE 66, 1978. A periodic window of
n points is the symmetric one of n + 1 points without its last point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("windows")
aten = torch.ops.aten

Shape = Callable[[torch.Tensor, int], torch.Tensor]


def _window(
    shape: Shape, length: int, periodic: bool, *, dtype: torch.dtype | None = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """`shape(n, last)` at n = 0 ... last, in the window's dtype."""
    dtype = dtype or torch.get_default_dtype()
    if length <= 1:
        return aten.full.default([length], 1, dtype=dtype, device=device)
    wide = accumulation_dtype(dtype)
    n = aten.arange.start_step(0, length, 1, dtype=wide, device=device)
    window = shape(n, length if periodic else length - 1)
    return window if window.dtype == dtype else aten._to_copy(window, dtype=dtype)


def _cosines(first: float, second: float, third: float = 0.0) -> Shape:
    def shape(n: torch.Tensor, last: int) -> torch.Tensor:
        angle = n * (2 * math.pi / last)
        window = first - second * aten.cos(angle)
        return window + third * aten.cos(angle * 2) if third else window

    return shape


def _triangle(n: torch.Tensor, last: int) -> torch.Tensor:
    return 1 - aten.abs(n * (2 / last) - 1)


def _kaiser(beta: float) -> Shape:
    def shape(n: torch.Tensor, last: int) -> torch.Tensor:
        # 1 - (2n/last - 1)^2, factored so that it is exactly 0 at both ends
        inside = 4 * n * (last - n) / (last * last)
        return aten.i0(beta * aten.sqrt(inside)) / aten.i0(aten.full.default([], beta, dtype=n.dtype, device=n.device))

    return shape


@TABLE.register("aten::bartlett_window")
def bartlett_window(window_length: int, **options: Any) -> torch.Tensor:
    """bartlett_window(int window_length, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_triangle, window_length, True, **options)


@TABLE.register("aten::bartlett_window.periodic")
def bartlett_window_periodic(window_length: int, periodic: bool, **options: Any) -> torch.Tensor:
    """bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_triangle, window_length, periodic, **options)


@TABLE.register("aten::blackman_window")
def blackman_window(window_length: int, **options: Any) -> torch.Tensor:
    """blackman_window(int window_length, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(0.42, 0.5, 0.08), window_length, True, **options)


@TABLE.register("aten::blackman_window.periodic")
def blackman_window_periodic(window_length: int, periodic: bool, **options: Any) -> torch.Tensor:
    """blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(0.42, 0.5, 0.08), window_length, periodic, **options)


@TABLE.register("aten::hann_window")
def hann_window(window_length: int, **options: Any) -> torch.Tensor:
    """hann_window(int window_length, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(0.5, 0.5), window_length, True, **options)


@TABLE.register("aten::hann_window.periodic")
def hann_window_periodic(window_length: int, periodic: bool, **options: Any) -> torch.Tensor:
    """hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(0.5, 0.5), window_length, periodic, **options)


@TABLE.register("aten::hamming_window")
def hamming_window(window_length: int, **options: Any) -> torch.Tensor:
    """hamming_window(int window_length, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(0.54, 0.46), window_length, True, **options)


@TABLE.register(
    "aten::hamming_window.periodic", "aten::hamming_window.periodic_alpha", "aten::hamming_window.periodic_alpha_beta"
)
def hamming_window_periodic(
    window_length: int, periodic: bool, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> torch.Tensor:
    """hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_cosines(alpha, beta), window_length, periodic, **options)


@TABLE.register("aten::kaiser_window")
def kaiser_window(window_length: int, **options: Any) -> torch.Tensor:
    """kaiser_window(int window_length, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_kaiser(12.0), window_length, True, **options)


@TABLE.register("aten::kaiser_window.periodic", "aten::kaiser_window.beta")
def kaiser_window_beta(window_length: int, periodic: bool, beta: float = 12.0, **options: Any) -> torch.Tensor:
    """kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype, ...) -> Tensor"""
    return _window(_kaiser(beta), window_length, periodic, **options)
