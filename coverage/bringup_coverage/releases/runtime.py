"""A snapshot's text held against the torch that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from bringup.torch_internals import parse_schema, python_registrations, registered_schemas, registrations, tags_of
from bringup_codegen.snapshots import Operator, Snapshot, SnapshotError

_DERIVED_TAGS = {"pt2_compliant_tag", "inplace", "out", "generated"}
_COMPOSITES = {
    "implicit": "CompositeImplicitAutograd",
    "explicit": "CompositeExplicitAutograd",
    "explicit_nonfunctional": "CompositeExplicitAutogradNonFunctional",
}


def with_runtime(snapshot: Snapshot) -> Snapshot:
    """The snapshot with the schemas that only the running torch shows.

    Raises:
        SnapshotError: it is of another release, or its text says anything else than the runtime; every such operator is named.
    """
    running = torch.__version__.partition("+")[0]
    if running != snapshot.torch:
        raise SnapshotError(f"the snapshot is of torch {snapshot.torch}, the one that runs is {running}")
    schemas = _schemas()
    wrong = list(differences(snapshot, schemas))
    if wrong:
        raise SnapshotError(
            f"the text of torch {snapshot.torch} and its runtime differ in {len(wrong)} facts:\n  " + "\n  ".join(wrong)
        )
    elsewhere = {name: text for name, text in schemas.items() if name not in snapshot.operators}
    return replace(snapshot, runtime=elsewhere, runtime_torch=torch.__version__)


def differences(snapshot: Snapshot, schemas: Mapping[str, str] | None = None) -> Iterator[str]:
    """Each fact of the text that the runtime has otherwise: operators, schemas, tags, composite flags, Python tables."""
    found = _schemas() if schemas is None else schemas
    for name in sorted(set(snapshot.operators) - set(found)):
        yield f"aten::{name} is in the text and not registered"
    composites = {key: registrations(key) for key in _COMPOSITES.values()}
    tables = {table: python_registrations(table) for table in ("post_autograd", "pre_autograd", "meta")}
    for name, operator in snapshot.operators.items():
        if name not in found:
            continue
        if parse_schema(f"aten::{operator.schema}") != parse_schema(f"aten::{found[name]}"):
            yield f"aten::{name} has the schema {found[name]}, in the text {operator.schema}"
        yield from _facts(operator, composites, tables)
    registered = {
        table: {n.removeprefix("aten::") for n in names if n.startswith("aten::")} for table, names in tables.items()
    }
    for table, names in registered.items():
        for name in sorted(names - set(snapshot.operators) - set(found)):
            yield f"aten::{name} is in the Python table {table} and not in the text"


def _schemas() -> dict[str, str]:
    """The schemas of `aten`, by name without the namespace."""
    found = {}
    for schema in registered_schemas()[0]:
        namespace, _, packet = schema.name.partition("::")
        if namespace == "aten":
            name = f"{packet}.{schema.overload_name}" if schema.overload_name else packet
            found[name] = str(schema).removeprefix("aten::")
    return found


def _facts(
    operator: Operator, composites: Mapping[str, frozenset[str]], tables: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    full = f"aten::{operator.name}"
    packet, _, overload = operator.name.partition(".")
    tags = tuple(t for t in tags_of(f"aten::{packet}", overload) if t not in _DERIVED_TAGS)
    if tags != operator.tags:
        yield f"{full} has the tags {tags}, in the text {operator.tags}"
    delegates = operator.structured not in ("", "yes")  # the build gives it a kernel that calls the out= form
    for word, key in _COMPOSITES.items():
        expected = operator.composite == word or (word == "explicit_nonfunctional" and delegates)
        if (full in composites[key]) != expected:
            yield f"{full} is {'' if full in composites[key] else 'not '}registered for {key}, in the text {operator.composite!r}"
    said = {"post_autograd": operator.decomposition, "pre_autograd": operator.pre_autograd, "meta": operator.meta}
    for table, function in said.items():
        if (full in tables[table]) != bool(function):
            yield f"{full} is {'' if full in tables[table] else 'not '}in the Python table {table}, in the text {function!r}"
