"""Calls of one overload from those of another: in-place and out= forms, scalars for tensors, equal signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bringup_coverage.calls.schema import Parameter, Signature, signature
from bringup_coverage.calls.tensors import World
from bringup_coverage.calls.values import LEFT_OUT, candidates

_STRANGERS = 24
"""Overloads of other packets that are asked."""


@dataclass(frozen=True)
class Registry:
    """Every signature, by packet and by the shape of its inputs."""

    by_base: Mapping[str, tuple[str, ...]]
    by_shape: Mapping[tuple[tuple[str, str], ...], tuple[str, ...]]

    @staticmethod
    def of(names: Sequence[str]) -> Registry:
        """Group the signatures of the given overloads."""
        bases: dict[str, list[str]] = {}
        shapes: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for name in names:
            known = signature(name)
            bases.setdefault(known.base, []).append(name)
            shapes.setdefault(known.shape, []).append(name)
        return Registry({k: tuple(v) for k, v in bases.items()}, {k: tuple(v) for k, v in shapes.items()})

    def relatives(self, wanted: Signature) -> list[str]:
        """Overloads of the packet and its spellings, those with the same inputs first."""
        near = [n for base in related(wanted.base) for n in self.by_base.get(base, ()) if n != wanted.overload]
        return sorted(near, key=lambda n: signature(n).shape != wanted.shape)

    def strangers(self, wanted: Signature) -> list[str]:
        """Overloads of other packets with the same inputs, those of similar names first."""
        bases = related(wanted.base)
        equal = [n for n in self.by_shape.get(wanted.shape, ()) if signature(n).base not in bases]
        return sorted(equal, key=lambda n: -_common(n, wanted.overload))[:_STRANGERS]

    def functional(self, wanted: Signature) -> list[str]:
        """Overloads with the same inputs that write to nothing, of the packet or one of its spellings first."""
        equal = self.by_shape.get(wanted.shape, ())
        found = [n for n in equal if signature(n).base in related(wanted.base) and not _writes(signature(n))]
        return sorted(found, key=lambda n: signature(n).base != wanted.base)


def _common(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _writes(known: Signature) -> bool:
    return any(p.written for p in known.parameters)


def related(base: str) -> list[str]:
    """Names that PyTorch gives the forms of one operator; only where to look, what they are the schemas say."""
    core = base.strip("_").removesuffix("_copy")
    core = core.removeprefix("special_")
    forms = [base, core, f"{core}_", f"_{core}", f"_{core}_", f"{core}_copy", f"_{core}_copy", f"special_{core}"]
    return list(dict.fromkeys(forms))


def adapt(call: dict[str, Any], donor: Signature, wanted: Signature, world: World) -> dict[str, Any] | None:
    """Values for the inputs of `wanted` from a call of `donor`, by name, else by place; the rest by type and name."""
    positions = [p.name for p in donor.parameters if not p.keyword]
    values: dict[str, Any] = {}
    for place, p in enumerate(wanted.inputs):
        given = call.get(p.name, LEFT_OUT)
        if given is LEFT_OUT and not p.keyword and place < len(positions):
            given = call.get(positions[place], LEFT_OUT)
        value = LEFT_OUT if given is LEFT_OUT else coerced(given, p, call)
        if value is LEFT_OUT and not p.default:
            first = candidates(p, world)
            if not first:
                return None
            value = first[0]
        if value is not LEFT_OUT:
            values[p.name] = value
    return values


def coerced(value: Any, p: Parameter, call: dict[str, Any]) -> Any:
    """`value` as the type of `p`, or `LEFT_OUT` where it cannot be."""
    if value is None:
        return None if p.optional else LEFT_OUT
    tensor = isinstance(value, torch.Tensor)
    number = isinstance(value, (int, float, complex))
    sequence = isinstance(value, (list, tuple))
    match p.type:
        case "Tensor":
            if sequence and value and isinstance(value[0], torch.Tensor):
                return value[0]
            numbers = sequence and value and all(isinstance(v, (int, float, complex)) for v in value)
            return value if tensor else torch.tensor(value) if number or numbers else LEFT_OUT
        case "List[Tensor]" | "List[Optional[Tensor]]":
            if sequence and all(v is None or isinstance(v, torch.Tensor) for v in value):
                return list(value)
            return [value, value.clone()] if isinstance(value, torch.Tensor) else LEFT_OUT
        case "number" | "int" | "float" | "bool":
            if sequence and value:
                value, tensor = value[0], isinstance(value[0], torch.Tensor)
            return _scalar(value, p.type)
        case "List[int]" | "List[number]" | "List[float]" | "List[bool]":
            return _numbers(value, p, call)
        case "str":
            return value if isinstance(value, str) else LEFT_OUT
        case "ScalarType":
            return value if isinstance(value, torch.dtype) else LEFT_OUT
        case _:
            return value if not (tensor or number or sequence) else LEFT_OUT


def _scalar(value: Any, kind: str) -> Any:
    if isinstance(value, torch.Tensor):
        if not value.numel():
            return LEFT_OUT
        value = value.flatten()[0].item()
    if not isinstance(value, (int, float, complex)):
        return LEFT_OUT
    if kind == "number":
        return value
    if isinstance(value, complex) or (kind in ("int", "bool") and isinstance(value, float)):
        return LEFT_OUT
    return {"int": int, "float": float, "bool": bool}[kind](value)


def _numbers(value: Any, p: Parameter, call: dict[str, Any]) -> Any:
    kind = p.type.removeprefix("List[").removesuffix("]")
    if not isinstance(value, (list, tuple)):
        lists = [v for v in call.values() if isinstance(v, (list, tuple))]
        value = [value] * (p.length or (len(lists[0]) if lists else 1))
    found = [_scalar(v, kind) for v in value]
    return LEFT_OUT if any(v is LEFT_OUT for v in found) else found


def worlds_of(call: dict[str, Any]) -> Iterator[World]:
    """The world that a call's first floating tensor lives in."""
    for value in call.values():
        if isinstance(value, torch.Tensor):
            yield World(value.dim(), value.dtype)
            return
    yield World(2, torch.float32)
