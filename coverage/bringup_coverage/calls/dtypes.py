"""Calls in another dtype, from calls in float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from bringup_coverage.calls.recipe import tensors_of, walk

Call = tuple[tuple[Any, ...], dict[str, Any]]


def made_for(args: tuple[Any, ...], kwargs: dict[str, Any], dtype: str) -> bool:
    """Whether a call says something about `dtype`: a tensor or a dtype argument of it; float32 stands for any call."""
    if dtype == "float32":
        return True
    wanted = getattr(torch, dtype)
    return any(t.dtype is wanted for t in tensors_of(args, kwargs)) or wanted in [*args, *kwargs.values()]


def converted(args: tuple[Any, ...], kwargs: dict[str, Any], dtype: torch.dtype) -> Iterator[Call]:
    """The call with its floating tensors in `dtype`; with no floating tensors, with all, or with the first one."""
    if any(t.is_floating_point() or t.is_complex() for t in tensors_of(args, kwargs)):
        yield _mapped(args, kwargs, lambda t, i: _cast(t, dtype) if t.is_floating_point() or t.is_complex() else t)
        return
    yield _mapped(args, kwargs, lambda t, i: _cast(t, dtype))
    yield _mapped(args, kwargs, lambda t, i: _cast(t, dtype) if i == 0 else t)


def _mapped(args: tuple[Any, ...], kwargs: dict[str, Any], function: Callable[[torch.Tensor, int], Any]) -> Call:
    count = iter(range(1 << 20))
    dtypes: list[torch.dtype] = []

    def leaf(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        result = function(value, next(count))
        dtypes.append(result.dtype)
        return result

    values = tuple(walk(a, leaf) for a in args)
    named = {k: walk(v, leaf) for k, v in kwargs.items()}
    return values, named


def _cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor in `dtype`, with its strides; fractions become small positive integers."""
    source = tensor
    if tensor.is_complex() and not dtype.is_complex:
        source = tensor.real
    if source.is_floating_point() and not (dtype.is_floating_point or dtype.is_complex):
        source = (source.nan_to_num(0.0, 0.0, 0.0).abs() * 4).floor().clamp(0, 100)
    return source.to(dtype)
