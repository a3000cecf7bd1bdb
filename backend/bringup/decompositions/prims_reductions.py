"""PyTorch's prims that reduce, transform and create."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import load_prims

TABLE = Decompositions("prims_reductions")
aten = torch.ops.aten
load_prims()


def _dims(tensor: torch.Tensor, dims: Sequence[int] | None) -> list[int]:
    return list(range(tensor.dim())) if dims is None else list(dims)


@TABLE.register("prims::sum")
def sum_(inp: torch.Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None) -> torch.Tensor:
    """sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor"""
    chosen = _dims(inp, dims)
    if not chosen:
        return aten._to_copy(inp, dtype=output_dtype or inp.dtype)
    return aten.sum.dim_IntList(inp, chosen, False, dtype=output_dtype or inp.dtype)


@TABLE.register("prims::prod")
def prod(inp: torch.Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None) -> torch.Tensor:
    """prod(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor"""
    result = aten._to_copy(inp, dtype=output_dtype or inp.dtype)
    for dim in sorted(_dims(inp, dims), reverse=True):
        result = aten.prod.dim_int(result, dim, False, dtype=result.dtype)
    return result


@TABLE.register("prims::amax")
def amax(inp: torch.Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None) -> torch.Tensor:
    """amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor"""
    chosen = _dims(inp, dims)
    return aten.amax(inp, chosen) if chosen else aten.clone(inp)


@TABLE.register("prims::amin")
def amin(inp: torch.Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None) -> torch.Tensor:
    """amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor"""
    chosen = _dims(inp, dims)
    return aten.amin(inp, chosen) if chosen else aten.clone(inp)


@TABLE.register("prims::var")
def var(
    inp: torch.Tensor,
    dims: Sequence[int] | None,
    correction: float | None = 1,
    *,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> Tensor

    Two passes, the mean first (Chan, Golub, LeVeque 1983): sum |x - mean|^2 / max(n - correction, 0).
    """
    chosen = _dims(inp, dims)
    count: Any = 1
    for dim in chosen:
        count = count * inp.shape[dim]
    mean = aten.div.Tensor(aten.sum.dim_IntList(inp, chosen, True), count)
    gap = inp - mean
    if inp.is_complex():
        parts = aten.view_as_real(gap)
        square = aten.sum.dim_IntList(parts * parts, [-1], False)
    else:
        square = gap * gap
    freedom = count - (1 if correction is None else correction)
    freedom = torch.sym_max(freedom, 0)
    result = aten.div.Tensor(aten.sum.dim_IntList(square, chosen, False), freedom)
    return result if output_dtype is None or result.dtype == output_dtype else aten._to_copy(result, dtype=output_dtype)


@TABLE.register("prims::normal")
def normal(
    shape: Sequence[Any], *, mean: Any, std: Any, dtype: Any, device: Any, requires_grad: bool, generator: Any = None
) -> torch.Tensor:
    """normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, ...) -> Tensor"""
    return aten.normal_functional(
        aten.full.default(shape, 0, dtype=dtype, device=device), mean, std, generator=generator
    )


@TABLE.register("prims::uniform")
def uniform(
    shape: Sequence[Any], *, low: Any, high: Any, dtype: Any, device: Any, stride: Sequence[Any], generator: Any = None
) -> torch.Tensor:
    """uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, SymInt[] stride, ...) -> Tensor"""
    memory = aten.empty_strided(shape, stride, dtype=dtype, device=device)
    return aten.uniform(memory, low, high, generator=generator)


@TABLE.register("prims::fill")
def fill(self: torch.Tensor, value: Any) -> torch.Tensor:
    """fill(Tensor self, Scalar value) -> Tensor"""
    return aten.full_like(self, value)


@TABLE.register("prims::full")
def full(shape: Sequence[Any], fill_value: Any, *, dtype: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    """full(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor"""
    return aten.full.default(shape, fill_value, dtype=dtype, device=device)


@TABLE.register("prims::full_like")
def full_like(a: torch.Tensor, fill_value: Any, *, dtype: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    """full_like(Tensor a, Scalar fill_value, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor"""
    return aten.full_like(a, fill_value, dtype=dtype, device=device)


@TABLE.register("prims::empty_strided")
def empty_strided(
    shape: Sequence[Any], strides: Sequence[Any], *, dtype: Any, device: Any, requires_grad: bool
) -> torch.Tensor:
    """empty_strided(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor"""
    return aten.empty_strided(shape, strides, dtype=dtype, device=device)


@TABLE.register("prims::empty_permuted")
def empty_permuted(
    shape: Sequence[Any], physical_layout: Sequence[int], *, dtype: Any, device: Any, requires_grad: bool
) -> torch.Tensor:
    """empty_permuted(SymInt[] shape, int[] physical_layout, *, ...) -> Tensor"""
    strides: list[Any] = [0] * len(shape)
    step: Any = 1
    for dim in reversed(physical_layout):
        strides[dim] = step
        step = step * shape[dim]
    return aten.empty_strided(shape, strides, dtype=dtype, device=device)


@TABLE.register("prims::iota")
def iota(length: Any, *, start: Any, step: Any, dtype: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    """iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) -> Tensor"""
    return aten.arange.start_step(start, start + length * step, step, dtype=dtype, device=device)


@TABLE.register("prims::scalar_tensor")
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None) -> torch.Tensor:
    """scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor"""
    return aten.full.default([], s, dtype=dtype or torch.get_default_dtype(), device=device)


@TABLE.register("prims::fft_c2c")
def fft_c2c(self: torch.Tensor, *, dim: Sequence[int], forward: bool) -> torch.Tensor:
    """fft_c2c(Tensor self, *, int[] dim, bool forward) -> Tensor"""
    return aten._fft_c2c(self, dim, 0, forward)


@TABLE.register("prims::fft_r2c")
def fft_r2c(self: torch.Tensor, *, dim: Sequence[int], onesided: bool) -> torch.Tensor:
    """fft_r2c(Tensor self, *, int[] dim, bool onesided) -> Tensor"""
    return aten._fft_r2c(self, dim, 0, onesided)


@TABLE.register("prims::fft_c2r")
def fft_c2r(self: torch.Tensor, *, dim: Sequence[int], last_dim_size: Any) -> torch.Tensor:
    """fft_c2r(Tensor self, *, int[] dim, SymInt last_dim_size) -> Tensor"""
    return aten._fft_c2r(self, dim, 0, last_dim_size)


@TABLE.register("prims::svd")
def svd(A: torch.Tensor, *, full_matrices: bool) -> Any:
    """svd(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)"""
    return aten._linalg_svd(A, full_matrices)
