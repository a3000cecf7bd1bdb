"""Calls as plain data: text and bytes, to send from a worker and to keep in a file; strides and shared memory survive."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any

import torch

from bringup.torch_internals import memory_key
from bringup_coverage.calls.recipe import with_bits

_LARGEST_STORAGE = 1 << 16
"""Bytes; a view of more than this is kept as a copy of its own elements."""


class NotPlain(ValueError):
    """A value that a recipe cannot hold: a tensor of another layout or device, a script object, a stream."""


@dataclass(frozen=True)
class Plain:
    """A call as data.

    Attributes:
        text: the arguments in JSON; what JSON lacks is an object with one tag.
        storages: the bytes of every storage that the tensors lie in.
    """

    text: str
    storages: tuple[bytes, ...]


def to_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plain:
    """Write a call down.

    Raises:
        NotPlain: an argument has no plain form.
    """
    writer = _Writer()
    data = [[writer.write(a) for a in args], {name: writer.write(v) for name, v in kwargs.items()}]
    return Plain(json.dumps(data), tuple(writer.storages))


def from_plain(plain: Plain) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Read a call back."""
    storages = [_storage(data) for data in plain.storages]
    args, kwargs = json.loads(plain.text)
    return tuple(_read(a, storages) for a in args), {name: _read(v, storages) for name, v in kwargs.items()}


class _Writer:
    def __init__(self) -> None:
        self.storages: list[bytes] = []
        self.places: dict[int, int] = {}

    def write(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise NotPlain("a symbolic number")
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, (list, tuple)):
            return [self.write(v) for v in value]
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value)}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {type(value).__name__: str(value).removeprefix("torch.")}
        if isinstance(value, torch.device) and value.type in ("cpu", "meta"):
            return {"device": str(value)}
        if isinstance(value, torch.Generator):
            return {"generator": value.initial_seed()}
        if isinstance(value, torch.UntypedStorage):
            self.storages.append(_content(value))
            return {"storage": len(self.storages) - 1}
        raise NotPlain(f"a {type(value).__name__}")

    def tensor(self, tensor: torch.Tensor) -> list[Any]:
        if tensor.layout is not torch.strided or tensor.device.type != "cpu" or tensor.is_quantized or tensor.is_nested:
            raise NotPlain(f"a tensor of layout {tensor.layout} on {tensor.device.type}")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise NotPlain(f"a {type(tensor).__name__}")
        tensor = tensor.detach()
        if tensor.untyped_storage().nbytes() > _LARGEST_STORAGE:
            tensor = tensor.resolve_conj().resolve_neg().contiguous().clone()
            place = len(self.storages)
            self.storages.append(_content(tensor.untyped_storage()))
        else:
            place = self.places.setdefault(memory_key(tensor), len(self.storages))
            if place == len(self.storages):
                self.storages.append(_content(tensor.untyped_storage()))
        layout = [list(tensor.shape), list(tensor.stride()), tensor.storage_offset()]
        return [str(tensor.dtype).removeprefix("torch."), *layout, place, tensor.is_conj(), tensor.is_neg()]


def _content(storage: Any) -> bytes:
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""


def _storage(data: bytes) -> Any:
    if not data:
        return torch.empty(0).untyped_storage()
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).clone().untyped_storage()


def _read(value: Any, storages: list[Any]) -> Any:
    if isinstance(value, list):
        return [_read(v, storages) for v in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag == "tensor":
        dtype, size, stride, offset, place, conjugate, negative = content
        tensor = torch.empty(0, dtype=getattr(torch, dtype)).set_(storages[place], offset, size, stride)
        return with_bits(tensor, conjugate=conjugate, negative=negative)
    if tag == "complex":
        return complex(*content)
    if tag == "device":
        return torch.device(content)
    if tag == "generator":
        return torch.Generator().manual_seed(content)
    if tag == "storage":
        return storages[content]
    return getattr(torch, content)  # dtype, layout, memory_format
