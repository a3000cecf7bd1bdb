"""Sums of polynomials at tensors, and the dtypes that special functions are computed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch

Function = Callable[..., torch.Tensor]


def horner(coefficients: Sequence[float], t: torch.Tensor) -> torch.Tensor:
    """c0 + c1 t + c2 t^2 + ... by Horner's rule; at least two coefficients."""
    result = t * coefficients[-1] + coefficients[-2]
    for c in coefficients[-3::-1]:
        result = result * t + c
    return result


def chebyshev(coefficients: Sequence[float], t: torch.Tensor) -> torch.Tensor:
    """c0 + c1 T1(t) + c2 T2(t) + ... for |t| <= 1 by Clenshaw's recurrence (Math. Tables Aids Comput. 9, 1955); at least three coefficients."""
    twice = t + t
    last, result = twice * coefficients[-1] + coefficients[-2], None
    before: Any = coefficients[-1]
    for c in coefficients[-3:0:-1]:
        last, before = twice * last - before + c, last
    result = t * last - before + coefficients[0]
    return result


def is_half(dtype: torch.dtype) -> bool:
    """Whether a dtype is a float of two bytes."""
    return dtype.is_floating_point and dtype.itemsize < 4


def in_float(function: Function) -> Function:
    """Compute an elementwise function of real tensors in float32 or float64.

    Integers are promoted to the default dtype; half precision is computed in float32 and rounded once. The operands come
    to `function` with one dtype, not broadcast.
    """

    @wraps(function)
    def computed(*tensors: torch.Tensor, **options: Any) -> torch.Tensor:
        dtype = tensors[0].dtype if len(tensors) == 1 else torch.result_type(*tensors)
        if not dtype.is_floating_point:
            dtype = torch.get_default_dtype()
        wide = torch.float32 if is_half(dtype) else dtype
        result = function(
            *(torch.ops.aten._to_copy(t, dtype=wide) if t.dtype != wide else t for t in tensors), **options
        )
        return result if wide == dtype else torch.ops.aten._to_copy(result, dtype=dtype)

    return computed
