"""Fake values, which nodes carry in ``meta["val"]``, as buffers."""

from __future__ import annotations

from typing import Any

import torch

from bringup.ir import Buffer, Role


def buffer(name: str, value: Any, role: Role, alias_of: str | None) -> Buffer:
    """The buffer called `name` for a value; what is no tensor is a scalar, and only strided tensors have strides."""
    if not isinstance(value, torch.Tensor):
        return Buffer(name, Role.SCALAR)
    strided = value.layout is torch.strided
    strides = tuple(map(_size, value.stride())) if strided else ()
    return Buffer(name, role, value.dtype, tuple(map(_size, value.shape)), strides, alias_of, value.is_conj())


def _size(size: Any) -> int | str:
    return size if type(size) is int else str(size)


def flat(value: Any) -> list[Any]:
    """The leaves of nested lists and tuples, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]
