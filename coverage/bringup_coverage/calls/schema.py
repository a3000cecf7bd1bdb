"""What a schema says of an overload's parameters, and binding a call to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from bringup.torch_internals import OpOverload, find_overload


@dataclass(frozen=True)
class Parameter:
    """One parameter of a schema.

    Attributes:
        name: as the schema has it.
        type: the type without its optional, such as ``Tensor``, ``List[int]``, ``ScalarType``, ``number``.
        optional: whether None is a value.
        length: of a list with a fixed length (``int[2]``), else None.
        keyword: whether it is keyword-only.
        default: whether it may be left out.
        written: whether the operator writes to it.
    """

    name: str
    type: str
    optional: bool
    length: int | None
    keyword: bool
    default: bool
    written: bool

    @property
    def is_out(self) -> bool:
        """Whether it is a place for a result: written to and keyword-only."""
        return self.written and self.keyword


@dataclass(frozen=True)
class Signature:
    """An overload and its parameters."""

    overload: str
    parameters: tuple[Parameter, ...]

    @property
    def base(self) -> str:
        """The packet's name without the namespace."""
        return self.overload.partition("::")[2].partition(".")[0]

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """All but the out parameters."""
        return tuple(p for p in self.parameters if not p.is_out)

    @property
    def outs(self) -> tuple[Parameter, ...]:
        """The out parameters."""
        return tuple(p for p in self.parameters if p.is_out)

    @property
    def shape(self) -> tuple[tuple[str, str], ...]:
        """Names and types of the inputs: overloads with equal ones accept each other's calls, as far as types go."""
        return tuple((p.name, p.type) for p in self.inputs)

    def bind(self, args: Iterable[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Values by parameter name, or None where the call does not fit the schema's names and numbers, or gives a tensor for a number."""
        args = tuple(args)
        positional = [p for p in self.parameters if not p.keyword]
        if len(args) > len(positional):
            return None
        values = {p.name: a for p, a in zip(positional, args, strict=False)}
        known = {p.name for p in self.parameters}
        if any(name not in known or name in values for name in kwargs):
            return None
        values.update(kwargs)
        numbers = {p.name for p in self.parameters if "Tensor" not in p.type}
        return None if any(isinstance(v, torch.Tensor) and n in numbers for n, v in values.items()) else values

    def call(self, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments of a call with these values; the first one left out ends the positional."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        open_ = True
        for p in self.parameters:
            if p.name not in values:
                open_ = False
            elif p.keyword or not open_:
                kwargs[p.name] = values[p.name]
            else:
                args.append(values[p.name])
        return tuple(args), kwargs


@cache
def signature(overload: str) -> Signature:
    """The signature of an overload that this torch has.

    Raises:
        KeyError: there is no such overload.
    """
    op = find_overload(overload)
    if op is None:
        raise KeyError(f"this torch ({torch.__version__}) has no operator {overload!r}")
    return Signature(overload, tuple(_parameter(a) for a in schema_arguments(op)))


def schema_arguments(op: OpOverload) -> list[Any]:
    """The arguments of an overload's schema."""
    return list(op._schema.arguments)


def _parameter(argument: Any) -> Parameter:
    text = str(argument.real_type)
    optional = text.startswith("Optional[")
    written = argument.alias_info is not None and argument.alias_info.is_write
    kind = text.removeprefix("Optional[").removesuffix("]") if optional else text
    return Parameter(
        argument.name, kind, optional, argument.N, argument.kwarg_only, argument.has_default_value(), written
    )


def schema_text(overload: str) -> str:
    """The schema of an overload as PyTorch writes it; empty when this torch has no such overload."""
    op = find_overload(overload)
    return "" if op is None else str(op._schema)
