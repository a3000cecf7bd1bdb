"""A release's `native_functions.yaml` and `tags.yaml`, read as operators."""

from __future__ import annotations

from typing import Any

import yaml

from bringup_codegen.snapshots.operator import Operator
from bringup_codegen.snapshots.schema import Schema, SnapshotError


def words(value: Any) -> tuple[str, ...]:
    """A YAML value that is a list or text with commas, as sorted words."""
    parts = value.split(",") if isinstance(value, str) else value or []
    return tuple(sorted(p.strip() for p in parts))


def read_operators(text: str) -> list[Operator]:
    """The overloads that the YAML writes out, sorted by name; those that PyTorch's build generates are names in `autogen`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries = yaml.load(text, Loader=loader)
    if not isinstance(entries, list):
        raise SnapshotError("native_functions.yaml holds no list of operators; is it PyTorch's file?")
    return sorted((read_entry(e) for e in entries), key=lambda o: o.name)


def read_entry(entry: dict[str, Any]) -> Operator:
    """One entry of the YAML."""
    schema = Schema.parse(entry["func"])
    keys = tuple(sorted(k for group in entry.get("dispatch") or {} for k in words(group)))
    structured = bool(entry.get("structured")) or "structured_delegate" in entry
    if "CompositeImplicitAutograd" in keys or not (keys or structured):
        composite = "implicit"
    elif {"CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"} & set(keys):
        composite = "explicit"
    else:
        composite = ""
    return Operator(
        name=schema.name,
        schema=str(schema),
        tags=words(entry.get("tags")),
        keys=keys,
        composite=composite,
        structured=structured,
        variants=words(entry.get("variants", "function")),
        autogen=words(entry.get("autogen")),
    )
