"""PyTorch's prims that view, move, copy and convert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import load_prims

TABLE = Decompositions("prims_views")
aten = torch.ops.aten
load_prims()


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


@TABLE.register("prims::as_strided")
def as_strided(a: torch.Tensor, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any) -> torch.Tensor:
    """as_strided(Tensor(a!) a, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor(a!)"""
    return aten.as_strided(a, size, stride, storage_offset)


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
    places = aten.full.default(
        [1] * len(size), storage_offset - self.storage_offset(), dtype=torch.int64, device=self.device
    )
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        index = torch.arange(length, device=self.device) * step
        places = places + index.view([length if d == dim else 1 for d in range(len(size))])
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


@TABLE.register("prims::rev")
def rev(a: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """rev(Tensor a, int[] dims) -> Tensor"""
    return aten.flip(a, dims)


@TABLE.register("prims::cat")
def cat(tensors: Sequence[torch.Tensor], dim: int) -> torch.Tensor:
    """cat(Tensor[] tensors, int dim) -> Tensor"""
    return aten.cat(list(tensors), dim)
