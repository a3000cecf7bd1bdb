"""A call of one overload: what a kernel's constraint check and `Target.verdict` look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from bringup.torch_internals import OpOverload, overload_name, written_arguments


@dataclass(frozen=True, slots=True)
class Call:
    """One overload and the arguments it is called with.

    Attributes:
        overload: the operator, such as ``torch.ops.aten.mm.default``.
        args: positional arguments; tensors may be real or fake (only dtype, shape and strides are read).
        kwargs: keyword arguments.
    """

    overload: OpOverload
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The overload's name as the tables spell it, such as ``aten::add.Tensor``."""
        return overload_name(self.overload)

    def tensors(self) -> Iterator[torch.Tensor]:
        """Every tensor argument, those inside lists included, in the schema's order."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, torch.Tensor):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from (v for v in value if isinstance(v, torch.Tensor))

    def dtypes(self) -> Iterator[torch.dtype]:
        """The dtypes of its tensors; of a call without any, which makes one, the dtype that it asks for, if it does."""
        none = True
        for tensor in self.tensors():
            none = False
            yield tensor.dtype
        if none and isinstance(made := self.kwargs.get("dtype"), torch.dtype):
            yield made

    def argument(self, name: str) -> Any:
        """The argument called `name` in the schema, or its default when the call leaves it out.

        Raises:
            KeyError: the schema has no such argument.
        """
        for index, declared in enumerate(self.overload._schema.arguments):
            if declared.name != name:
                continue
            if index < len(self.args):
                return self.args[index]
            return self.kwargs.get(name, declared.default_value)
        raise KeyError(f"{self.name} has no argument {name!r}; its schema is {self.overload._schema}")

    def __str__(self) -> str:
        parts = [describe(a) for a in self.args] + [f"{k}={describe(v)}" for k, v in self.kwargs.items()]
        return f"{self.name}({', '.join(parts)})"


_READS_SHAPE = ("aten::sym_size", "aten::sym_stride", "aten::sym_numel", "aten::sym_storage_offset")


_OWN = ("aten", "prims")
"""PyTorch's own namespaces, whose schemas may be trusted: a custom operator that names no result may do anything."""


def is_check(overload: OpOverload) -> bool:
    """Whether an operator can only let the program go on or stop it with an error: it has no result and writes to nothing.

    Stopping a program is control, which is the host's: the device makes the value, the host looks at it.
    """
    return overload.namespace in _OWN and not overload._schema.returns and not written_arguments(overload)


def on_host(call: Call, result: Any) -> bool:
    """Whether a call in a graph is the host's own work where no kernel takes it.

    It reads a shape, it is a check, or no tensor goes in or comes out of it.

    Args:
        call: the call.
        result: what it gives, a fake value.
    """
    if call.overload._schema.name in _READS_SHAPE or is_check(call.overload):
        return True
    results = result if isinstance(result, (list, tuple)) else (result,)
    return next(call.tensors(), None) is None and not any(isinstance(r, torch.Tensor) for r in results)


def describe(value: Any) -> str:
    """A short text of an argument: ``float32[2, 3]`` for a tensor, its repr otherwise."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{[_size(s) for s in value.shape]}".replace("'", "")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(describe(v) for v in value)}]"
    return repr(value)


def _size(size: Any) -> Any:
    return size if type(size) is int else str(size)
