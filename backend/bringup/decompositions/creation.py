"""Creation of tensors: everything is `full`, `arange` or uninitialised strided memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.memory_formats import CHANNELS_INNERMOST, dense_strides, physical_order
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("creation")
aten = torch.ops.aten


@TABLE.register("aten::full_like")
def full_like(
    self: torch.Tensor,
    fill_value: Any,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """full_like(Tensor self, Scalar fill_value, *, ...) -> Tensor"""
    order = physical_order(self, memory_format)
    shape = [self.shape[d] for d in order]
    result = aten.full.default(shape, fill_value, dtype=dtype or self.dtype, device=device or self.device)
    if order == sorted(order):
        return result
    return aten.permute(result, [order.index(d) for d in range(len(order))])


@TABLE.register("aten::empty.memory_format")
def empty(
    size: Sequence[Any],
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """empty.memory_format(SymInt[] size, *, ...) -> Tensor"""
    if layout not in (None, torch.strided):
        return NotImplemented
    order = CHANNELS_INNERMOST.get(memory_format) or range(len(size))
    return empty_permuted(size, order, dtype=dtype, device=device)


@TABLE.register("aten::empty_permuted")
def empty_permuted(
    size: Sequence[Any],
    physical_layout: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    """empty_permuted(SymInt[] size, int[] physical_layout, *, ...) -> Tensor"""
    dtype = dtype or torch.get_default_dtype()
    return aten.empty_strided(
        size, dense_strides(size, physical_layout), dtype=dtype, device=device or torch.device("cpu")
    )


@TABLE.register("aten::empty_like")
def empty_like(
    self: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """empty_like(Tensor self, *, ...) -> Tensor"""
    if layout not in (None, torch.strided) or self.layout is not torch.strided:
        return NotImplemented
    strides = dense_strides(self.shape, physical_order(self, memory_format))
    return aten.empty_strided(self.shape, strides, dtype=dtype or self.dtype, device=device or self.device)


@TABLE.register("aten::new_empty_strided")
def new_empty_strided(
    self: torch.Tensor,
    size: Sequence[Any],
    stride: Sequence[Any],
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    """new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ...) -> Tensor"""
    return aten.empty_strided(size, stride, dtype=dtype or self.dtype, device=device or self.device)


@TABLE.register("aten::scalar_tensor")
def scalar_tensor(
    s: Any, *, dtype: torch.dtype | None = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """scalar_tensor(Scalar s, *, ...) -> Tensor"""
    return aten.full.default([], s, dtype=dtype or torch.get_default_dtype(), device=device)


@TABLE.register("aten::copy")
def copy(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor

    The values of `src`, broadcast, in the dtype and layout of `self`.
    """
    order = physical_order(self, None)
    value = aten.expand(aten._to_copy(src, dtype=self.dtype, device=self.device), self.shape)
    if order == sorted(order):
        return aten.clone(value, memory_format=torch.contiguous_format)
    dense = aten.clone(aten.permute(value, order), memory_format=torch.contiguous_format)
    return aten.permute(dense, [order.index(d) for d in range(len(order))])
