"""A release's `native_functions.yaml` read as operators, with those that PyTorch's build generates from it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from bringup_codegen.snapshots.generated import generated_schema
from bringup_codegen.snapshots.operator import Operator
from bringup_codegen.snapshots.schema import Schema, SnapshotError

# torchgen adds these to what the file says: model.py, NativeFunction.from_yaml and native_function_generation.py
_DERIVED_TAGS = {"pt2_compliant_tag", "inplace", "out", "generated"}
_KEPT_TAGS = {"nondeterministic_seeded", "view_copy"}  # that a generated variant has from its base
_UFUNC_KEYS = {"CPU", "CUDA"}  # that a ufunc's inner loop makes kernels for
_COMPOSITES = {
    "CompositeImplicitAutograd": "implicit",
    "CompositeExplicitAutograd": "explicit",
    "CompositeExplicitAutogradNonFunctional": "explicit_nonfunctional",
}


def words(value: Any) -> tuple[str, ...]:
    """A YAML value that is a list or text with commas, as sorted words."""
    parts = value.split(",") if isinstance(value, str) else value or []
    return tuple(sorted(p.strip() for p in parts))


def read_operators(text: str, generation: str) -> dict[str, Operator]:
    """All overloads by name, sorted. SnapshotError for a text that is no such file.

    `generation` is the release's `torchgen/native_function_generation.py`: newer ones generate variants of core operators, too, that
    lower themselves.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries = yaml.load(text, Loader=loader)
    if not isinstance(entries, list) or not all(isinstance(e, dict) and "func" in e for e in entries):
        raise SnapshotError("native_functions.yaml holds no list of operators; is it PyTorch's file?")
    written = [_read_entry(e) for e in entries]
    found = {o.name: o for o in written}
    for base, entry in zip(written, entries, strict=True):
        if _generates(base, entry, "is_core" in generation):
            found |= {v.name: v for v in _variants(base)}
    return dict(sorted(found.items()))


def _read_entry(entry: dict[str, Any]) -> Operator:
    schema = Schema.parse(entry["func"])
    dispatch = entry.get("dispatch")
    named = {k for group in dispatch or {} for k in words(group)}
    keys = tuple(sorted(named | (_UFUNC_KEYS if "ufunc_inner_loop" in entry else set())))
    structured = "yes" if entry.get("structured") else entry.get("structured_delegate", "")
    composite = next((c for key, c in _COMPOSITES.items() if key in keys), "")
    if dispatch is None and not structured:  # an empty block is one
        composite = "implicit"
    return Operator(
        name=schema.name,
        schema=str(schema),
        tags=tuple(t for t in words(entry.get("tags")) if t not in _DERIVED_TAGS),
        keys=keys,
        composite=composite,
        structured=structured,
        variants=words(entry.get("variants", "function")),
        autogen=words(entry.get("autogen")),
    )


def _generates(base: Operator, entry: dict[str, Any], from_core: bool) -> bool:
    """Not from what lowers itself, from views, from what bypasses the dispatcher."""
    implicit = base.composite == "implicit" and not (from_core and "core" in base.tags)
    returns = base.schema.rpartition(" -> ")[2]
    view = re.search(r"\([a-z|]+( -> [*a-z|]+)?\)", returns) is not None
    return not (implicit or view or entry.get("manual_cpp_binding"))


def _variants(base: Operator) -> list[Operator]:
    schema = Schema.parse(base.schema)
    return [
        Operator(
            name=name,
            schema=str(generated_schema(schema, name)),
            tags=tuple(t for t in base.tags if t in _KEPT_TAGS),
            keys=("CompositeExplicitAutograd",),
            composite="explicit",
            generated=base.name,
        )
        for name in base.autogen
    ]
