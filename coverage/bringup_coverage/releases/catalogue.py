"""The catalogue of a release that is not installed, of its snapshot."""

from __future__ import annotations

from bringup_codegen.snapshots import Operator as Entry
from bringup_codegen.snapshots import Schema, Snapshot
from bringup_coverage.catalogue import KEYS, Catalogue, Facts, Kind, Operator, tier_of, tiers_of_variants

_STRUCTURED_META = "Meta"
_KINDS = {"functional": Kind.FUNCTIONAL, "inplace": Kind.IN_PLACE, "out": Kind.OUT, "mutable": Kind.MUTATING}


def catalogue_of(snapshot: Snapshot) -> Catalogue:
    """Every `aten` operator of a release's text, as `bringup_coverage.catalogue.catalogue` has the installed one's."""
    found = [_operator(entry, snapshot) for _, entry in sorted(snapshot.operators.items())]
    return Catalogue({o.name: o for o in tiers_of_variants(found)}, 0)


def _operator(entry: Entry, snapshot: Snapshot) -> Operator:
    schema = Schema.parse(entry.schema)
    keys = frozenset(_keys(entry, snapshot))
    writes = any(a.written for a in schema.arguments)
    facts = Facts(
        "aten",
        entry.name.partition(".")[0],
        tuple(a.type for a in schema.arguments),
        tuple(r.partition(" ")[0] for r in schema.returns),
        frozenset(entry.tags),
        keys,
        writes,
    )
    view = any("(" in r and "!" not in r for r in schema.returns)
    composite = "implicit" if entry.composite == "implicit" else "explicit" if _explicit(keys) else None
    name, text = f"aten::{entry.name}", f"aten::{entry.schema}"
    return Operator(name, text, _KINDS[schema.kind], view, tier_of(facts), entry.tags, composite, keys)


def _explicit(keys: frozenset[str]) -> bool:
    return any(k.startswith("CompositeExplicit") for k in keys)


def _keys(entry: Entry, snapshot: Snapshot) -> set[str]:
    """The keys that it has kernels for once PyTorch is built: a structured operator has those of its out= form, and a meta kernel."""
    keys = set(entry.keys)
    if entry.composite == "implicit":
        keys.add("CompositeImplicitAutograd")
    if entry.structured == "yes":
        keys.add(_STRUCTURED_META)
    elif entry.structured:
        keys |= {*snapshot.operators[entry.structured].keys, _STRUCTURED_META, "CompositeExplicitAutogradNonFunctional"}
    if entry.meta:
        keys.add(_STRUCTURED_META)
    return keys & set(KEYS)
