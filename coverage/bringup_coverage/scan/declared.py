"""DECLARED: what the target's tables claim of an overload, without a trace. A claim, labelled as such, not a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from bringup.target.target import Decomposition, Target
from bringup.torch_internals import overload_name
from bringup_coverage.catalogue import Catalogue, Kind, Operator
from bringup_coverage.places import place_of

OTHER_LAYOUTS = {
    "sparse": "it works on sparse tensors",
    "nested": "it works on nested tensors",
    "quantized": "it works on quantized tensors or weights packed for one library",
}
VENDOR = {
    "vendor": "it belongs to one vendor's library",
    "device": "no kernel of it runs on the host, so that nothing can be compared",
    "collective": "it needs a process group",
    "internal": "it is part of PyTorch's own machinery",
    "testing": "it exists for PyTorch's own tests",
}


@dataclass(frozen=True)
class Claim:
    """What the tables say.

    Attributes:
        status: native, decomposed or none.
        reason: for none, one of the reasons of `bringup_coverage.scan.report.REASONS`.
        detail: for a person.
        through: overloads that it is known to call.
        missing: overloads that it is known to call and that have no kernel.
        sources: what said so, where there is more than one source.
        decomposition: ``where`` (file and line) and ``name`` of the function that makes it of other operators, for a row that is decomposed.
    """

    status: str
    reason: str | None = None
    detail: str = ""
    through: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    decomposition: Mapping[str, str] | None = None


class Claims(Protocol):
    """What is known of every overload without a call."""

    def claim(self, operator: Operator) -> Claim:
        """What is known of one overload."""
        ...


@dataclass(frozen=True)
class Declared:
    """The tables of one target, as names; a decomposition is a function, or says ``where`` it is and its ``name``."""

    rows: frozenset[str]
    decompositions: Mapping[str, Decomposition | Mapping[str, str]]
    catalogue: Catalogue

    @staticmethod
    def of(target: Target, catalogue: Catalogue) -> Declared:
        """The tables of `target`."""
        entries = {overload_name(op): fn for op, fn in target.decompositions.items()}
        return Declared(frozenset(target.rows), entries, catalogue)

    def claim(self, operator: Operator) -> Claim:
        """Native by a kernel; decomposed by an entry, above the device, or through the form that writes to nothing."""
        return replace(self._claim(operator), decomposition=self._decomposition(operator))

    def _decomposition(self, operator: Operator) -> Mapping[str, str] | None:
        """What makes the operator, or its form that writes to nothing, of others; PyTorch's composites have no line in Python."""
        if operator.composite == "implicit":
            return {"where": "", "name": "PyTorch's own, above the device"}
        entry = self.decompositions.get(operator.name)
        if entry is None and operator.kind is not Kind.FUNCTIONAL and (pure := self._pure(operator)):
            if pure in self.rows:
                return {"where": "", "name": f"functionalization into {pure}"}
            return self._decomposition(self.catalogue.operators[pure])
        if entry is None:
            return None
        if isinstance(entry, Mapping):
            return entry
        place = place_of(entry)
        return {"where": str(place), "name": place.function}

    def _claim(self, operator: Operator) -> Claim:
        if operator.name in self.rows and operator.composite != "implicit":
            return Claim("native")
        if operator.name in self.decompositions:
            return Claim("decomposed", detail="by an entry of the target's decompositions")
        if operator.composite == "implicit":
            return Claim("decomposed", detail="above the device, by PyTorch")
        if operator.kind is not Kind.FUNCTIONAL and (pure := self._pure(operator)):
            return Claim("decomposed", detail=f"through {pure}, which writes to nothing")
        return Claim("none", *why_none(operator))

    def _pure(self, operator: Operator) -> str | None:
        """The functional form of an in-place or out= overload that the tables have."""
        for candidate in self._siblings(operator):
            known = candidate.name in self.rows or candidate.name in self.decompositions
            if candidate.kind is Kind.FUNCTIONAL and (known or candidate.composite == "implicit"):
                return candidate.name
        return None

    def _siblings(self, operator: Operator) -> list[Operator]:
        namespace, packet = operator.family
        prefix = f"{namespace}::{packet}"
        operators = self.catalogue.operators
        names = [prefix, *(f"{prefix}.{o}" for o in _overloads_like(operator.name))]
        return [operators[n] for n in names if n in operators]


def _overloads_like(name: str) -> list[str]:
    """Overload names that the functional form of `name` may have: the same, or without what marks out=."""
    overload = name.partition("::")[2].partition(".")[2]
    stems = {overload, overload.removesuffix("_out"), overload.removesuffix("out"), "Tensor", "self"}
    return sorted(s for s in stems if s)


def why_none(operator: Operator) -> tuple[str, str]:
    """The reason and a sentence for an overload that no table claims."""
    if operator.tier in OTHER_LAYOUTS:
        return "layout", f"{operator.name} is {operator.tier}: {OTHER_LAYOUTS[operator.tier]}"
    if operator.tier in VENDOR:
        return "vendor", f"{operator.name} is of the tier {operator.tier}: {VENDOR[operator.tier]}"
    return "no-decomposition", f"{operator.name} has no kernel and no decomposition"
