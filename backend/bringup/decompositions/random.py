"""Random numbers, on eager's own stream: each draws as eager's composite does, from the same generator in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from bringup.decompositions.memory_formats import physical_order
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("random")
aten = torch.ops.aten


def _dense(size: Sequence[Any], dtype: torch.dtype | None, device: Any) -> torch.Tensor:
    return aten.full.default(size, 0, dtype=dtype or torch.get_default_dtype(), device=device or torch.device("cpu"))


def _dense_like(self: torch.Tensor, dtype: torch.dtype | None, device: Any, memory_format: Any) -> torch.Tensor:
    order = physical_order(self, memory_format)
    dense = _dense([self.shape[d] for d in order], dtype or self.dtype, device or self.device)
    return dense if order == sorted(order) else aten.permute(dense, [order.index(d) for d in range(len(order))])


def _uniform(memory: torch.Tensor, generator: Any = None) -> torch.Tensor:
    return aten.uniform(memory, 0.0, 1.0, generator=generator)


def _normal(memory: torch.Tensor, generator: Any = None) -> torch.Tensor:
    return aten.normal_functional(memory, 0.0, 1.0, generator=generator)


def _add_pair(name: str, draw: Callable[..., torch.Tensor]) -> None:
    @TABLE.register(f"aten::{name}", f"aten::{name}.generator")
    def sized(
        size: Sequence[Any],
        *,
        generator: Any = None,
        dtype: torch.dtype | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
    ) -> torch.Tensor:
        return draw(_dense(size, dtype, device), generator)

    @TABLE.register(f"aten::{name}_like", f"aten::{name}_like.generator")
    def like(
        self: torch.Tensor,
        *,
        generator: Any = None,
        dtype: torch.dtype | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        memory_format: Any = None,
    ) -> torch.Tensor:
        return draw(_dense_like(self, dtype, device, memory_format), generator)


_add_pair("rand", _uniform)
_add_pair("randn", _normal)


def _integers(like: torch.Tensor, low: int, high: int, generator: Any = None) -> torch.Tensor:
    """Integers of [low, high) in the shape, dtype and layout of `like`."""
    if generator is not None:
        return NotImplemented
    order = physical_order(like, None)
    shape = [like.shape[d] for d in order]
    drawn = aten.randint.low(low, high, shape, dtype=like.dtype, device=like.device)
    return drawn if order == sorted(order) else aten.permute(drawn, [order.index(d) for d in range(len(order))])


@TABLE.register("aten::randint", "aten::randint.generator")
def randint(
    high: int,
    size: Sequence[Any],
    *,
    generator: Any = None,
    dtype: torch.dtype | None = torch.int64,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    """randint(SymInt high, SymInt[] size, *, ...) -> Tensor"""
    if generator is not None:
        return NotImplemented
    return aten.randint.low(0, high, size, dtype=dtype or torch.int64, device=device)


@TABLE.register("aten::randint_like")
def randint_like(
    self: torch.Tensor,
    high: int,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    """randint_like(Tensor self, SymInt high, *, ...) -> Tensor"""
    return _integers(_dense_like(self, dtype, device, memory_format), 0, high)


@TABLE.register("aten::randint_like.low_dtype")
def randint_like_low(
    self: torch.Tensor,
    low: int,
    high: int,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    """randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ...) -> Tensor"""
    return _integers(_dense_like(self, dtype, device, memory_format), low, high)


@TABLE.register("aten::random.from")
def random_from(self: torch.Tensor, low: int, high: int | None, *, generator: Any = None) -> torch.Tensor:
    """random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor"""
    return _integers(self, low, _top(self.dtype) if high is None else high, generator)


@TABLE.register("aten::random.to")
def random_to(self: torch.Tensor, high: int, *, generator: Any = None) -> torch.Tensor:
    """random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor"""
    return _integers(self, 0, high, generator)


@TABLE.register("aten::random")
def random(self: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
    """random(Tensor self, *, Generator? generator=None) -> Tensor

    Up to the largest integer that the dtype holds exactly; for 64-bit integers another stream than eager's.
    """
    return _integers(self, 0, _top(self.dtype), generator)


def _top(dtype: torch.dtype) -> int:
    """One more than the largest number that `random_` draws, as far as a 64-bit bound can say it."""
    if dtype.is_floating_point:
        return {torch.float16: 2**11, torch.bfloat16: 2**8, torch.float32: 2**24}.get(dtype, 2**53) + 1
    if dtype is torch.bool:
        return 2
    return min(torch.iinfo(dtype).max + 1, 2**63 - 1)


@TABLE.register("aten::bernoulli.Tensor")
def bernoulli_tensor(self: torch.Tensor, p: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
    """bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor"""
    if 0 in self.shape:
        return aten.clone(self)  # whatever the shape of p
    order = physical_order(self, None)
    chance = aten.clone(aten.permute(aten.expand(p, self.shape), order), memory_format=torch.contiguous_format)
    drawn = aten._to_copy(aten.bernoulli(chance, generator=generator), dtype=self.dtype)
    return drawn if order == sorted(order) else aten.permute(drawn, [order.index(d) for d in range(len(order))])


@TABLE.register("aten::native_dropout")
def native_dropout(input: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)

    Srivastava et al., "Dropout", 2014: kept elements are scaled by 1 / (1 - p), rounded as eager rounds it; drawn in memory order.
    """
    if train is False or p == 0:
        return aten.clone(input), aten.full_like(input, True, dtype=torch.bool)
    if p == 1:
        return aten.full_like(input, 0), aten.full_like(input, False, dtype=torch.bool)
    order = physical_order(input, None)
    drawn = _dense([input.shape[d] for d in order], torch.bool, input.device)
    mask = aten.permute(aten.bernoulli.p(drawn, 1 - p), [order.index(d) for d in range(len(order))])
    return input * (aten._to_copy(mask, dtype=input.dtype) / (1 - p)), mask


@TABLE.register("aten::normal.Tensor_float")
def normal_tensor_float(mean: torch.Tensor, std: float = 1, *, generator: Any = None) -> torch.Tensor:
    """normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor"""
    return _normal(_dense(mean.shape, mean.dtype, mean.device), generator) * std + aten.contiguous(mean)


@TABLE.register("aten::normal.float_Tensor")
def normal_float_tensor(mean: float, std: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
    """normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor"""
    return _normal(_dense(std.shape, std.dtype, std.device), generator) * aten.contiguous(std) + mean


@TABLE.register("aten::normal.Tensor_Tensor")
def normal_tensor_tensor(mean: torch.Tensor, std: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
    """normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"""
    shape = torch.broadcast_shapes(mean.shape, std.shape)
    return _normal(_dense(shape, mean.dtype, mean.device), generator) * aten.contiguous(std) + aten.contiguous(mean)
