"""Fourier transforms: the real ones as complex ones.

A real signal's spectrum is Hermitian, ``X[n - k] = conj(X[k])`` (Oppenheim and Schafer, Discrete-Time Signal
Processing): one half of it is kept on the way out and the other half is rebuilt on the way in.
"""

from __future__ import annotations

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
