"""What changed from one release to another, fact by fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bringup_codegen.snapshots.compatible import backward_compatible
from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import Schema
from bringup_codegen.snapshots.text import Stanzas


@dataclass(frozen=True)
class SchemaChange:
    """One overload whose schema is another; `compatible`: calls written for the old one run with the new one."""

    name: str
    old: str
    new: str
    compatible: bool


@dataclass(frozen=True)
class Gains:
    """What gained something and what lost it: names of overloads, or words."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """From release `old` to release `new`; names are without the namespace.

    Facts other than `added`, `removed` and `core` are of the overloads that both releases have.
    """

    old: str
    new: str
    added: tuple[Operator, ...]
    removed: tuple[Operator, ...]
    schemas: tuple[SchemaChange, ...]
    tags: Mapping[str, Gains]
    composite: Mapping[str, tuple[str, str]]
    core: Gains
    decompositions: Gains
    moved: Mapping[str, tuple[str, str]]
    meta: Gains
    derivatives: Gains
    keys: Mapping[str, Gains]


def compare(old: Snapshot, new: Snapshot) -> Difference:
    """The difference of two snapshots."""
    before, after = old.operators, new.operators
    changed = [(before[n], after[n]) for n in after if n in before and _differs(before, after, n)]
    keys = _by_key(changed)
    return Difference(
        old=old.torch,
        new=new.torch,
        added=tuple(after[n] for n in after if n not in before),
        removed=tuple(before[n] for n in before if n not in after),
        schemas=tuple(_schema_change(a, b) for a, b in changed if a.schema != b.schema),
        tags={a.name: _words(a.tags, b.tags) for a, b in changed if a.tags != b.tags},
        composite={a.name: (a.composite, b.composite) for a, b in changed if a.composite != b.composite},
        core=_words(_core(before), _core(after)),
        decompositions=_flag(changed, lambda o: bool(o.decomposition or o.pre_autograd)),
        moved={
            a.name: (a.decomposition, b.decomposition)
            for a, b in changed
            if a.decomposition and b.decomposition and a.decomposition != b.decomposition
        },
        meta=_flag(changed, lambda o: bool(o.meta)),
        derivatives=_flag(changed, lambda o: o.derivative) if _has_derivatives(old, new) else Gains(),
        keys=keys,
    )


def _differs(before: Mapping[str, Operator], after: Mapping[str, Operator], name: str) -> bool:
    if isinstance(before, Stanzas) and isinstance(after, Stanzas):
        return before.raw[name] != after.raw[name]
    return before[name] != after[name]


def _has_derivatives(*snapshots: Snapshot) -> bool:
    """Whether the wheels ship `derivatives.yaml`: the first ones did not."""
    return all(any(path.endswith("/derivatives.yaml") for path in s.sources) for s in snapshots)


def _schema_change(old: Operator, new: Operator) -> SchemaChange:
    compatible = backward_compatible(Schema.parse(old.schema), Schema.parse(new.schema))
    return SchemaChange(old.name, old.schema, new.schema, compatible)


def _words(old: tuple[str, ...], new: tuple[str, ...]) -> Gains:
    return Gains(tuple(sorted(set(new) - set(old))), tuple(sorted(set(old) - set(new))))


def _core(operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Names of the core operator set; stanzas are looked at as text first, most need not be read."""
    raw = operators.raw if isinstance(operators, Stanzas) else None
    return tuple(n for n in operators if (raw is None or " core" in raw[n]) and "core" in operators[n].tags)


def _flag(changed: list[tuple[Operator, Operator]], has: Callable[[Operator], bool]) -> Gains:
    return Gains(
        tuple(b.name for a, b in changed if has(b) and not has(a)),
        tuple(a.name for a, b in changed if has(a) and not has(b)),
    )


def _by_key(changed: list[tuple[Operator, Operator]]) -> dict[str, Gains]:
    gained: dict[str, list[str]] = defaultdict(list)
    lost: dict[str, list[str]] = defaultdict(list)
    for a, b in changed:
        words = _words(a.keys, b.keys)
        for key in words.gained:
            gained[key].append(a.name)
        for key in words.lost:
            lost[key].append(a.name)
    return {key: Gains(tuple(gained[key]), tuple(lost[key])) for key in sorted({*gained, *lost})}
