"""PyTorch's prims, which its reference decompositions end in, onto the required kernels.

A prim neither promotes nor broadcasts; its operands have one dtype and shape, or are Python numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.rules import scalar_as_tensor
from bringup.torch_internals import load_prims

TABLE = Decompositions("prims")
aten = torch.ops.aten
load_prims()

_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil clone cos cosh digamma erf erfc exp exp2 expm1 floor isfinite lgamma "
    "log log10 log1p log2 neg reciprocal round rsqrt sign signbit sin sinh sqrt tan tanh trunc"
)
_BINARY = (
    "atan2 bitwise_and bitwise_or bitwise_xor eq fmax fmin fmod gcd ge gt hypot igamma igammac le lt maximum minimum ne "
    "nextafter remainder"
)
_RENAMED = {
    "erf_inv": "erfinv",
    "conj_physical": "conj_physical",
    "bessel_i0": "i0",
    "bessel_i0e": "special_i0e",
    "bessel_i1": "special_i1",
    "bessel_i1e": "special_i1e",
    "bessel_j0": "special_bessel_j0",
    "bessel_j1": "special_bessel_j1",
    "spherical_bessel_j0": "special_spherical_bessel_j0",
    "erfcx": "special_erfcx",
    "ndtri": "special_ndtri",
}
_RENAMED_BINARY = {
    "pow": "pow",
    "zeta": "special_zeta",
    "shift_left": "bitwise_left_shift",
    "shift_right_arithmetic": "bitwise_right_shift",
}


def _tensor(value: Any, *others: Any) -> torch.Tensor:
    """A number as a 0-dim tensor that promotes with the tensor among `others` as the number would."""
    if isinstance(value, torch.Tensor):
        return value
    like = next(o for o in others if isinstance(o, torch.Tensor))
    return scalar_as_tensor(value, like)


def _unary(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def apply(self: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return function(self, **kwargs)

    return apply


def _binary(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def apply(self: Any, other: Any) -> torch.Tensor:
        return function(_tensor(self, other), _tensor(other, self))

    return apply


def _add_elementwise() -> None:
    for name, target in {**{n: n for n in _UNARY.split()}, **_RENAMED}.items():
        TABLE.register(f"prims::{name}")(_unary(getattr(aten, target)))
    for name, target in {**{n: n for n in _BINARY.split()}, **_RENAMED_BINARY}.items():
        TABLE.register(f"prims::{name}")(_binary(getattr(aten, target)))


_add_elementwise()


@TABLE.register("prims::add")
def add(self: Any, other: Any) -> torch.Tensor:
    """add(Tensor self, Tensor other) -> Tensor"""
    return aten.add.Tensor(_tensor(self, other), other)


@TABLE.register("prims::sub")
def sub(self: Any, other: Any) -> torch.Tensor:
    """sub(Tensor self, Tensor other) -> Tensor"""
    return aten.sub.Tensor(_tensor(self, other), other)


@TABLE.register("prims::mul")
def mul(self: Any, other: Any) -> torch.Tensor:
    """mul(Tensor self, Tensor other) -> Tensor"""
    return aten.mul.Tensor(_tensor(self, other), other)


@TABLE.register("prims::div")
def div(self: Any, other: Any) -> torch.Tensor:
    """div(Tensor self, Tensor other) -> Tensor

    Integers are divided with truncation, as in C.
    """
    left = _tensor(self, other)
    if left.dtype.is_floating_point or left.dtype.is_complex:
        return aten.div.Tensor(left, other)
    return aten.div.Tensor_mode(left, other, rounding_mode="trunc")


@TABLE.register("prims::where")
def where(pred: torch.Tensor, a: Any, b: Any) -> torch.Tensor:
    """where(Tensor pred, Tensor a, Tensor b) -> Tensor"""
    if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
        dtype = torch.result_type(a, b)
        a, b = (aten.full([], v, dtype=dtype, device=pred.device) for v in (a, b))
    return aten.where.self(pred, _tensor(a, b), _tensor(b, a))


@TABLE.register("prims::cbrt")
def cbrt(self: torch.Tensor) -> torch.Tensor:
    """cbrt(Tensor self) -> Tensor"""
    return torch.sign(self) * torch.pow(torch.abs(self), 1.0 / 3.0)


@TABLE.register("prims::broadcast_in_dim")
def broadcast_in_dim(a: torch.Tensor, shape: Sequence[Any], broadcast_dimensions: Sequence[int]) -> torch.Tensor:
    """broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)

    Dimension k of `a` becomes dimension broadcast_dimensions[k] of the result; the others are new.
    """
    for dim in range(len(shape)):
        if dim not in broadcast_dimensions:
            a = aten.unsqueeze(a, dim)
    return aten.expand(a, shape)


@TABLE.register("prims::transpose")
def transpose(a: torch.Tensor, permutation: Sequence[int]) -> torch.Tensor:
    """transpose(Tensor(a) a, int[] permutation) -> Tensor(a)"""
    return aten.permute(a, permutation)


@TABLE.register("prims::squeeze")
def squeeze(a: torch.Tensor, dimensions: Sequence[int]) -> torch.Tensor:
    """squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a)"""
    return aten.squeeze.dims(a, dimensions)


@TABLE.register("prims::collapse", "prims::collapse_view")
def collapse(a: torch.Tensor, start: int, end: int) -> torch.Tensor:
    """collapse_view(Tensor(a) a, int start, int end) -> Tensor(a)

    Dimensions start to end, both included, become one.
    """
    size = 1
    for length in a.shape[start : end + 1]:
        size = size * length
    return aten.reshape(a, [*a.shape[:start], size, *a.shape[end + 1 :]])


@TABLE.register("prims::split_dim")
def split_dim(a: torch.Tensor, dim: int, outer_length: Any) -> torch.Tensor:
    """split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)"""
    inner = a.shape[dim] // outer_length
    return aten.view(a, [*a.shape[:dim], outer_length, inner, *a.shape[dim + 1 :]])


@TABLE.register("prims::reshape")
def reshape(a: torch.Tensor, shape: Sequence[Any]) -> torch.Tensor:
    """reshape(Tensor a, SymInt[] shape) -> Tensor

    Always a new tensor.
    """
    return aten.clone(aten.reshape(a, shape), memory_format=torch.contiguous_format)


@TABLE.register("prims::view_of")
def view_of(a: torch.Tensor) -> torch.Tensor:
    """view_of(Tensor(a) a) -> Tensor(a)"""
    return aten.view(a, a.shape)


@TABLE.register("prims::view_of_dtype")
def view_of_dtype(a: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)"""
    return aten.view.dtype(a, dtype)


@TABLE.register("prims::as_strided_scatter")
def as_strided_scatter(
    self: torch.Tensor, src: torch.Tensor, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any
) -> torch.Tensor:
    """as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor

    `src` is written to the elements that as_strided would read: element (i, j, ...) has place offset + i s0 + j s1 + ...
    in the memory of `self`, whose own places say which element of it that is.
    """
    if not self.is_contiguous():
        return NotImplemented
    places = torch.full([1] * len(size), 0, dtype=torch.int64, device=self.device) + storage_offset
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        index = torch.arange(length, device=self.device) * step
        places = places + index.view([length if d == dim else 1 for d in range(len(size))])
    places = places - self.storage_offset() if isinstance(self.storage_offset(), int) and self.storage_offset() else places
    flat = aten.index_put(self.reshape(-1), [places.reshape(-1)], src.expand(size).reshape(-1))
    return flat.view(self.shape)


@TABLE.register("prims::convert_element_type")
def convert_element_type(a: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """convert_element_type(Tensor a, ScalarType dtype) -> Tensor"""
    return aten._to_copy(a, dtype=dtype)


@TABLE.register("prims::device_put")
def device_put(a: torch.Tensor, device: torch.device, non_blocking: bool = False) -> torch.Tensor:
    """device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor"""
    return aten._to_copy(a, device=device, non_blocking=non_blocking)


@TABLE.register("prims::real")
def real(self: torch.Tensor) -> torch.Tensor:
    """real(Tensor(a) self) -> Tensor(a)"""
    return aten.select.int(aten.view_as_real(self), -1, 0)


@TABLE.register("prims::imag")
def imag(self: torch.Tensor) -> torch.Tensor:
    """imag(Tensor(a) self) -> Tensor(a)"""
    return aten.select.int(aten.view_as_real(self), -1, 1)


@TABLE.register("prims::conj")
def conj(a: torch.Tensor) -> torch.Tensor:
    """conj(Tensor(a) a) -> Tensor(a)"""
    return aten._conj_physical(a)


@TABLE.register("prims::copy_strided")
def copy_strided(a: torch.Tensor, stride: Sequence[Any]) -> torch.Tensor:
    """copy_strided(Tensor a, SymInt[] stride) -> Tensor"""
    order = sorted(range(a.dim()), key=lambda d: stride[d], reverse=True)
    inverse = [order.index(d) for d in range(a.dim())]
    return aten.permute(aten.clone(aten.permute(a, order), memory_format=torch.contiguous_format), inverse)


@TABLE.register("prims::fill")
def fill(self: torch.Tensor, value: Any) -> torch.Tensor:
    """fill(Tensor self, Scalar value) -> Tensor"""
    return aten.full_like(self, value)


@TABLE.register("prims::full")
def full(shape: Sequence[Any], fill_value: Any, *, dtype: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    """full(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor"""
    return aten.full(shape, fill_value, dtype=dtype, device=device)


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
    return aten.full([], s, dtype=dtype or torch.get_default_dtype(), device=device)


@TABLE.register("prims::rev")
def rev(a: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """rev(Tensor a, int[] dims) -> Tensor"""
    return aten.flip(a, dims)


@TABLE.register("prims::cat")
def cat(tensors: Sequence[torch.Tensor], dim: int) -> torch.Tensor:
    """cat(Tensor[] tensors, int dim) -> Tensor"""
    return aten.cat(list(tensors), dim)


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
    inp: torch.Tensor, dims: Sequence[int] | None, correction: float | None = 1, *, output_dtype: torch.dtype | None = None
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
    return aten.normal_functional(aten.full(shape, 0, dtype=dtype, device=device), mean, std, generator=generator)


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
def svd(A: torch.Tensor, *, full_matrices: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """svd(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)"""
    return aten._linalg_svd(A, full_matrices)


@TABLE.register("prims::as_strided")
def as_strided(a: torch.Tensor, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any) -> torch.Tensor:
    """as_strided(Tensor(a!) a, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor(a!)"""
    return aten.as_strided(a, size, stride, storage_offset)


@TABLE.register("prims::frexp")
def frexp(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)"""
    return aten.frexp.Tensor(self)


@TABLE.register("prims::uniform")
def uniform(
    shape: Sequence[Any], *, low: Any, high: Any, dtype: Any, device: Any, stride: Sequence[Any], generator: Any = None
) -> torch.Tensor:
    """uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, SymInt[] stride, ...) -> Tensor"""
    memory = aten.empty_strided(shape, stride, dtype=dtype, device=device)
    return aten.uniform(memory, low, high, generator=generator)
