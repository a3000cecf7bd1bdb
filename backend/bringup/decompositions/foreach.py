"""``_foreach_X.*``: X on each element of the lists. The overload of X, and where each argument goes, follow from the two schemas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from bringup.decompositions.registry import Decomposition, Decompositions
from bringup.decompositions.rules import TAKES_NUMBERS, scalar_as_tensor
from bringup.torch_internals import OpOverload, is_composite_implicit, registered_names, written_arguments
from bringup.torch_internals import find_overload as find

aten = torch.ops.aten

TABLE = Decompositions("foreach")


@dataclass(frozen=True)
class _Element:
    """What is called for one element.

    Attributes:
        overload: the operator.
        keyword: for each argument of the list form, the keyword that it is given by, or None for its place.
        converted: places of numbers that the operator takes as tensors.
    """

    overload: OpOverload
    keyword: tuple[str | None, ...]
    converted: tuple[int, ...]

    def __call__(self, values: list[Any], named: dict[str, Any]) -> Any:
        like = next(v for v in values if isinstance(v, torch.Tensor))
        placed, by_name = [], dict(named)
        for i, (value, keyword) in enumerate(zip(values, self.keyword, strict=False)):
            if keyword is not None:
                by_name[keyword] = value
            else:
                placed.append(scalar_as_tensor(value, like) if i in self.converted else value)
        return self.overload(*placed, **by_name)


def _bound(overload: OpOverload, element: OpOverload) -> _Element | None:
    """How `element` takes what one step of the list form has, or None where it does not."""
    theirs = [a for a in element._schema.arguments if not a.kwarg_only]
    numbers = [a.name for a in element._schema.arguments if a.kwarg_only and str(a.type) == "number"]
    keyword: list[str | None] = []
    converted = []
    for i, argument in enumerate(a for a in overload._schema.arguments if not a.kwarg_only):
        kind = _kind(str(argument.type))
        wanted = str(theirs[i].type) if i < len(theirs) else ""
        if kind == wanted:
            keyword.append(None)
        elif kind == "number" and wanted == "Tensor":
            keyword.append(None)
            converted.append(i)
        elif kind == "number" and not wanted and numbers:
            keyword.append(numbers[0])
        else:
            return None
    if any(not a.has_default_value() for a in theirs[len(keyword) :]):
        return None
    known = element._name in TAKES_NUMBERS
    return _Element(element, tuple(keyword), tuple(i for i in converted if not known or i == 0))


def _kind(type_: str) -> str:
    """The type of one element of a list of tensors or numbers; another type is the same for all elements."""
    return {"List[Tensor]": "Tensor", "List[number]": "number"}.get(type_, type_)


def _element_of(overload: OpOverload) -> _Element | None:
    packet = getattr(aten, overload._overloadpacket.__name__.removeprefix("_foreach_"), None)
    if packet is None or not overload._schema.returns:
        return None
    others = [getattr(packet, name) for name in packet.overloads()]
    bound = [_bound(overload, other) for other in others if not written_arguments(other)]
    return min((b for b in bound if b is not None), key=lambda b: len(b.converted), default=None)


def _one_by_one(overload: OpOverload, element: Callable[[list[Any], dict[str, Any]], Any]) -> Decomposition:
    kinds = [str(a.type) for a in overload._schema.arguments]
    lists = [i for i, kind in enumerate(kinds) if kind in ("List[Tensor]", "List[number]")]

    def one_by_one(*args: Any, **kwargs: Any) -> Any:
        count = len(next(args[i] for i in lists if i < len(args)))
        return [element([a[k] if i in lists else a for i, a in enumerate(args)], kwargs) for k in range(count)]

    return one_by_one


@TABLE.register("aten::_foreach_norm.Scalar")
def _norm(tensors: list[torch.Tensor], ord: float = 2, dtype: torch.dtype | None = None) -> list[torch.Tensor]:
    """The vector norm of each tensor."""
    return [aten.linalg_vector_norm(t, ord, None, False, dtype=dtype) for t in tensors]


@TABLE.register("aten::_foreach_powsum.Scalar")
def _powsum(tensors: list[torch.Tensor], ord: float = 2, dtype: torch.dtype | None = None) -> list[torch.Tensor]:
    """The sum of each tensor's magnitudes to the power `ord`: a vector norm without its root."""
    return [aten.sum(aten.pow(aten.abs(t if dtype is None else t.to(dtype)), ord)) for t in tensors]


def foreach_rules() -> dict[OpOverload, Decomposition]:
    """The entry of every list form whose operator takes what one step of it has."""
    table: dict[OpOverload, Decomposition] = {}
    for name in registered_names("aten"):
        overload = find(name) if name.startswith("aten::_foreach_") else None
        if overload is None or written_arguments(overload) or is_composite_implicit(overload):
            continue
        element = _element_of(overload)
        if element is not None:
            table[overload] = _one_by_one(overload, element)
    return table
