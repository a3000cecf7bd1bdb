"""One operator overload: what it is, by its schema, its tags and its registrations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What an overload does to its arguments, by the alias annotations of its schema; names lie for about a hundred."""

    FUNCTIONAL = "functional"
    IN_PLACE = "in-place"
    OUT = "out"
    MUTATING = "mutating"


@dataclass(frozen=True, slots=True)
class Operator:
    """One registered overload.

    Attributes:
        name: as the tables spell it, ``aten::add.Tensor``.
        schema: its whole schema as text.
        kind: functional, in-place, out= or otherwise mutating.
        view: whether a result may share memory with an argument that is only read.
        tier: what sort of operator it is; see `bringup_coverage.catalogue.tiers`.
        tags: PyTorch's tags, sorted.
        composite: ``implicit`` (it decomposes above the device), ``explicit`` (one kernel for every device), or None.
        keys: the dispatch keys among `bringup_coverage.catalogue.KEYS` that it has a kernel of its own for.
    """

    name: str
    schema: str
    kind: Kind
    view: bool
    tier: str
    tags: tuple[str, ...]
    composite: str | None
    keys: frozenset[str]

    @property
    def namespace(self) -> str:
        """``aten`` of ``aten::add.Tensor``."""
        return self.name.partition("::")[0]

    @property
    def packet(self) -> str:
        """``add`` of ``aten::add.Tensor``."""
        return self.name.partition("::")[2].partition(".")[0]

    @property
    def family(self) -> tuple[str, str]:
        """Namespace and packet without the underscore that marks in-place packets: what variants of one operator share."""
        in_place = self.kind is Kind.IN_PLACE and self.packet.endswith("_") and not self.packet.endswith("__")
        return self.namespace, self.packet[:-1] if in_place else self.packet


def kind_of(schema: Any) -> Kind:
    """The kind of a schema (a FunctionSchema).

    Out= arguments are written to and keyword-only; an in-place operator writes to its first argument and returns it.
    """
    written = [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    if not written:
        return Kind.FUNCTIONAL
    if all(a.kwarg_only for a in written):
        return Kind.OUT
    first = schema.arguments[0]
    returned = [r for r in schema.returns if r.alias_info is not None and r.alias_info.is_write]
    lone = len(written) == 1 and written[0].name == first.name
    if lone and (len(returned) == 1 or (not schema.returns and str(first.type) == "List[Tensor]")):
        return Kind.IN_PLACE
    return Kind.MUTATING


def is_view(schema: Any) -> bool:
    """Whether a result may share memory with an argument that the operator does not write to."""
    return any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
