"""What the host runs, and where tensors lie in its memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload

_BOUND_FUNCTIONS = [
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "permute",
    "unsqueeze",
    "select.int",
    "cat",
    "clone",
    "rsqrt",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "neg",
    "abs",
    "where.self",
    "maximum",
    "minimum",
    "amax",
    "amin",
    "index_select",
    "embedding",
    "eq.Tensor",
    "ne.Tensor",
    "lt.Tensor",
    "le.Tensor",
    "gt.Tensor",
    "ge.Tensor",
    "gather",
    "pow.Tensor_Tensor",
    "pow.Tensor_Scalar",
    "erf",
    "bitwise_and.Tensor",
    "logical_not",
    "reciprocal",
]


@cache
def _bound_functions() -> dict[str, Callable[..., Any]]:
    """PyTorch's Python bindings parse their arguments a few microseconds faster than the generic entry does."""
    return {f"aten::{name}": getattr(torch, name.partition(".")[0]) for name in _BOUND_FUNCTIONS}


_FORGIVING: dict[str, Callable[..., Any]] = {"aten::view": torch.reshape}
"""The same result from operands in any layout. Fake kernels and real ones do not always agree on the strides of a result (of sums of tensors
with several dimensions of one element, hence of convolutions of them), so a view that was traced may meet strides it cannot have."""


def host_function(overload: OpOverload) -> Callable[..., Any]:
    """What runs an overload on the host: its Python binding where that reaches the same overload, else its dispatcher entry.

    A view of a tensor that lies otherwise than it was traced copies.
    """
    return _FORGIVING.get(overload._name) or _bound_functions().get(overload._name, overload._op)


def memory_key(tensor: torch.Tensor) -> int:
    """A key that is equal for tensors, real or fake, that share one storage, while they are alive."""
    return tensor.untyped_storage()._cdata


def without_autograd_keys() -> contextlib.AbstractContextManager[Any]:
    """Dispatch straight to the backend's kernels: for code that runs below autograd."""
    return torch._C._AutoDispatchBelowAutograd()
