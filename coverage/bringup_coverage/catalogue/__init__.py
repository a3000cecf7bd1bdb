"""The catalogue: every operator overload that the installed torch has a dispatcher kernel for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from bringup.torch_internals import load_prims, registered_schemas, registrations, tags_of
from bringup_coverage.catalogue.operator import Kind, Operator, is_view, kind_of
from bringup_coverage.catalogue.tiers import Facts, tier_of

__all__ = ["KEYS", "Catalogue", "Facts", "Kind", "Operator", "catalogue", "tier_of", "tiers_of_variants"]

KEYS = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CPU",
    "CUDA",
    "MPS",
    "SparseCPU",
    "SparseCsrCPU",
    "QuantizedCPU",
    "MkldnnCPU",
    "NestedTensorCPU",
    "CompositeImplicitAutogradNestedTensor",
    "Meta",
    "Autograd",
    "BackendSelect",
    "ZeroTensor",
)
"""The dispatch keys whose registrations the tiers and the reports look at."""


@dataclass(frozen=True)
class Catalogue:
    """All operators by name, sorted.

    Attributes:
        operators: by name.
        builtins: how many schemas are TorchScript builtins, which have no dispatcher kernel and are no operators.
    """

    operators: dict[str, Operator]
    builtins: int

    def variants(self) -> dict[str, tuple[str, ...]]:
        """By name, the other overloads of the same operator: its in-place, out= and functional forms."""
        families: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for operator in self.operators.values():
            families[operator.family].append(operator.name)
        return {
            name: tuple(n for n in families[operator.family] if n != name) for name, operator in self.operators.items()
        }


@cache
def catalogue() -> Catalogue:
    """The catalogue of the installed torch."""
    load_prims()
    schemas, builtins = registered_schemas()
    registered = {key: registrations(key) for key in KEYS}
    found = sorted((_operator(s, registered) for s in schemas), key=lambda operator: operator.name)
    return Catalogue({operator.name: operator for operator in tiers_of_variants(found)}, builtins)


def tiers_of_variants(found: list[Operator]) -> list[Operator]:
    """An in-place or out= form, often generated, belongs where its functional form belongs."""
    tiers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for operator in found:
        if operator.kind is Kind.FUNCTIONAL:
            tiers[operator.family].add(operator.tier)
    return [
        replace(operator, tier=next(iter(tiers[operator.family])))
        if operator.tier == "portable" and operator.kind is not Kind.FUNCTIONAL and len(tiers[operator.family]) == 1
        else operator
        for operator in found
    ]


def _operator(schema: Any, registered: dict[str, frozenset[str]]) -> Operator:
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    namespace, _, rest = name.partition("::")
    keys = frozenset(key for key, names in registered.items() if name in names)
    tags = tags_of(schema.name, schema.overload_name)
    facts = Facts(
        namespace,
        rest.partition(".")[0],
        _types(schema.arguments),
        _types(schema.returns),
        frozenset(tags),
        keys,
        kind_of(schema) is not Kind.FUNCTIONAL,
    )
    composite = "implicit" if "CompositeImplicitAutograd" in keys else None
    if composite is None and any(k.startswith("CompositeExplicit") for k in keys):
        composite = "explicit"
    return Operator(name, str(schema), kind_of(schema), is_view(schema), tier_of(facts), tags, composite, keys)


def _types(arguments: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(a.type) for a in arguments)
