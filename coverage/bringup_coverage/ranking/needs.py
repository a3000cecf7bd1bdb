"""What an overload that a target does not cover needs: one or two sets of kernels, each of which is enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PYTORCHS_OWN = ("aten", "prims")
"""Namespaces whose operators the catalogue lists as far as the installed release has them."""


@dataclass(frozen=True)
class Need:
    """One overload without cover.

    Attributes:
        overload: its name.
        ways: sets of kernels; with all the kernels of one of them it would be covered.
    """

    overload: str
    ways: tuple[frozenset[str], ...]

    @property
    def alone(self) -> frozenset[str]:
        """Kernels each of which is enough."""
        return frozenset(name for way in self.ways if len(way) == 1 for name in way)

    @property
    def helpful(self) -> frozenset[str]:
        """Kernels that are part of any way."""
        return frozenset(name for way in self.ways for name in way)

    def met(self, kernels: frozenset[str]) -> bool:
        """Whether the kernels are enough."""
        return any(way <= kernels for way in self.ways)


@dataclass(frozen=True)
class Needs:
    """The needs of a target, by overload.

    Attributes:
        found: of the overloads without cover.
        known: names of all overloads that were judged.
        kernels: overloads that the target has a kernel for, whatever calls it takes.
    """

    found: Mapping[str, Need]
    known: frozenset[str]
    kernels: frozenset[str] = field(default_factory=frozenset)

    @staticmethod
    def of(report: Mapping[str, Any], kernels: Iterable[str]) -> Needs:
        """The needs that a coverage report shows; what no tensor goes into or comes out of is the host's work, and no need."""
        entries = report["overloads"]
        lacking = [e for e in entries if e["status"] == "none" and "Tensor" in e["schema"]]
        found = {e["name"]: Need(e["name"], ways(e)) for e in lacking}
        return Needs(found, frozenset(e["name"] for e in entries), frozenset(kernels))

    def of_program(self, overloads: Iterable[str]) -> tuple[Need, ...]:
        """What a program that calls these overloads needs; a custom operator that was not judged needs its own kernel."""
        needs = []
        for name in sorted(set(overloads)):
            if name in self.found:
                needs.append(self.found[name])
            elif name not in self.known and name not in self.kernels and _custom(name):
                needs.append(Need(name, (frozenset({name}),)))
        return tuple(needs)

    def unjudged(self, overloads: Iterable[str]) -> set[str]:
        """Overloads of PyTorch's own that were not judged: another release has them, or they are of higher order."""
        return {n for n in overloads if n not in self.known and not _custom(n)}


def ways(entry: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
    """The sets of kernels that would cover the overload of a report's entry.

    Either all operators that its calls end in and that no kernel takes, or a kernel of its own: where a compiler would ever see the
    overload, which it does not of what PyTorch decomposes above the device, nor of writes to tensors, which are made functional.
    """
    name = entry["name"]
    own, missing = frozenset({name}), frozenset(entry["missing"])
    if not missing or missing == own:
        return (own,)
    seen = entry["kind"] == "functional" and entry["composite"] != "implicit"
    return (missing, own) if seen else (missing,)


def _custom(name: str) -> bool:
    return name.partition("::")[0] not in (*PYTORCHS_OWN, "higher_order")
