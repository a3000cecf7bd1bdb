"""A call that eager accepts, and fresh copies of its tensors to run it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from bringup.torch_internals import memory_key


@dataclass(frozen=True, eq=False)
class Recipe:
    """One call of one overload that eager accepts.

    Attributes:
        overload: the dispatcher's spelling, such as ``aten::add.Tensor``.
        args: positional arguments: CPU tensors, lists of them, and plain values.
        kwargs: keyword arguments of the same kinds.
        dtype: the dtype it was made for, such as ``float32``.
        source: ``opinfo`` (recorded), ``binding`` (another call bound to this schema), ``variant`` (the call of a
            related overload) or ``synthesized`` (made from the schema's types and names).
    """

    overload: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dtype: str
    source: str

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with every tensor copied: strides kept, and what shared memory shares memory again."""
        return fresh(self.args, self.kwargs)


def fresh(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Copies of a call's arguments; see `Recipe.fresh`."""
    copies: dict[int, Any] = {}
    copy = _Copy(copies)
    return tuple(walk(a, copy) for a in args), {name: walk(value, copy) for name, value in kwargs.items()}


class _Copy:
    """Copies leaves; one copied storage for each storage of the call."""

    def __init__(self, copies: dict[int, Any]) -> None:
        self.copies = copies

    def __call__(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Generator):
            return torch.Generator(leaf.device).manual_seed(leaf.initial_seed())
        if isinstance(leaf, torch.UntypedStorage):
            return leaf.clone()
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.layout is not torch.strided or leaf.is_quantized or leaf.device.type != "cpu":
            return leaf.detach().clone()
        return over(self.storage(leaf), leaf)

    def storage(self, tensor: torch.Tensor) -> Any:
        key = memory_key(tensor)
        if key not in self.copies:
            self.copies[key] = tensor.untyped_storage().clone()
        return self.copies[key]


def over(storage: Any, like: torch.Tensor) -> torch.Tensor:
    """A tensor over `storage` with the dtype, sizes, strides, offset and conjugate and negative bits of `like`."""
    plain = torch.empty(0, dtype=like.dtype).set_(storage, like.storage_offset(), like.shape, like.stride())
    return with_bits(plain, conjugate=like.is_conj(), negative=like.is_neg())


def with_bits(tensor: torch.Tensor, *, conjugate: bool, negative: bool) -> torch.Tensor:
    """`tensor` with its lazy conjugate and negative bits set."""
    if conjugate:
        tensor = tensor.conj()
    return torch.ops.aten._neg_view(tensor) if negative else tensor


def walk(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with `function` applied to everything in it that is no list or tuple."""
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [walk(v, function) for v in value]
    return function(value)


def tensors_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Every tensor of a call, in order."""
    found: list[torch.Tensor] = []
    walk([list(args), list(kwargs.values())], lambda v: found.append(v) if isinstance(v, torch.Tensor) else None)
    return found
