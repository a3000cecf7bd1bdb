"""Fourier transforms: the real ones as complex ones.

A real signal's spectrum is Hermitian, ``X[n - k] = conj(X[k])`` (Oppenheim and Schafer, Discrete-Time Signal
Processing): one half of it is kept on the way out and the other half is rebuilt on the way in.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fft")
aten = torch.ops.aten

_COMPLEX = {torch.float16: torch.complex32, torch.float32: torch.complex64, torch.float64: torch.complex128}


@TABLE.register("aten::_fft_r2c")
def _fft_r2c(self: torch.Tensor, dim: list[int], normalization: int, onesided: bool) -> torch.Tensor:
    """_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor

    Each normalisation mode is a product over the dimensions, so that they can be transformed one after the other.
    """
    signal = aten._to_copy(self, dtype=_COMPLEX[self.dtype])
    if not onesided:
        return aten._fft_c2c(signal, dim, normalization, True)
    last = dim[-1]
    spectrum = aten._fft_c2c(signal, [last], normalization, True)
    half = aten.clone(aten.slice(spectrum, last, 0, self.shape[last] // 2 + 1), memory_format=torch.contiguous_format)
    return aten._fft_c2c(half, dim[:-1], normalization, True) if len(dim) > 1 else half


@TABLE.register("aten::_fft_c2r")
def _fft_c2r(self: torch.Tensor, dim: list[int], normalization: int, last_dim_size: int) -> torch.Tensor:
    """_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor

    The imaginary parts of the zero and the Nyquist bin contribute only to the imaginary part of the result, which is
    dropped.
    """
    last = dim[-1]
    spectrum = aten._fft_c2c(self, dim[:-1], normalization, False) if len(dim) > 1 else self
    half = aten.slice(spectrum, last, 0, last_dim_size // 2 + 1)
    mirrored = aten.flip(aten.slice(spectrum, last, 1, last_dim_size - last_dim_size // 2), [last])
    whole = aten.cat([half, aten._conj_physical(mirrored)], last)
    signal = aten._fft_c2c(whole, [last], normalization, False)
    return aten.clone(aten.select(aten.view_as_real(signal), -1, 0), memory_format=torch.contiguous_format)


def _resolution(n: int, d: float) -> float:
    """The distance between two bins; infinite where there is nothing to divide by, as floating-point division has it."""
    return 1.0 / (n * d) if n * d != 0 else math.copysign(math.inf, n * d)


@TABLE.register("aten::fft_fftfreq")
def fft_fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, ...) -> Tensor

    The frequencies of the bins in cycles per unit: 0 to the largest, then the negative ones from the lowest.
    """
    dtype = dtype or torch.get_default_dtype()
    halves = ((0, (n + 1) // 2), (-(n // 2), 0))
    bins = aten.cat([aten.arange.start(a, b, dtype=dtype, device=device) for a, b in halves])
    return bins * _resolution(n, d)


@TABLE.register("aten::fft_rfftfreq")
def fft_rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, ...) -> Tensor

    Of a real signal: the bins up to the Nyquist frequency.
    """
    bins = aten.arange.start(0, n // 2 + 1, dtype=dtype or torch.get_default_dtype(), device=device)
    return bins * _resolution(n, d)
