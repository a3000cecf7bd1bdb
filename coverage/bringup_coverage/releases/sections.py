"""A difference as headed lists of lines, which the terminal, Markdown and HTML share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bringup_codegen.snapshots import Difference, Gains

if TYPE_CHECKING:
    from bringup_coverage.releases.effect import Effect


@dataclass(frozen=True)
class Section:
    """A heading with its count, and lines; each line is names and a remark, many names with one remark are one line."""

    title: str
    count: int
    lines: tuple[tuple[tuple[str, ...], str], ...]


def sections(difference: Difference, effect: Effect | None) -> list[Section]:
    """What is to be shown, what matters most first; empty sections are left out."""
    found = [*(_of_target(effect) if effect is not None else ()), *_of_operators(difference)]
    return [s for s in found if s.count]


def headline(difference: Difference) -> str:
    """One sentence."""
    breaking = sum(not c.compatible for c in difference.schemas)
    return (
        f"torch {difference.old} to {difference.new}: {len(difference.added)} overloads added, {len(difference.removed)} removed, "
        f"{len(difference.schemas)} schemas changed ({breaking} breaking)"
    )


def _of_target(effect: Effect) -> Iterator[Section]:
    who = f"{effect.target} ({effect.rows} kernels)"
    yield Section(f"What {who} has to do", len(effect.to_do), tuple(((), task) for task in effect.to_do))
    yield Section(
        f"Declared verdicts of {effect.target} that change",
        len(effect.verdicts),
        _grouped({v.name: f"{v.old} to {v.new}: {v.why}" for v in effect.verdicts}),
    )
    yield Section(
        f"New operators that {effect.target} covers",
        len(effect.covered),
        _grouped({a.name: f"{a.status}: {a.why}" for a in effect.covered}),
    )


def _of_operators(difference: Difference) -> Iterator[Section]:
    added = {f"aten::{o.name}": _described(o.kind, o.generated) for o in difference.added}
    yield Section(
        "Added", len(added), tuple(((f"aten::{o.schema}",), added[f"aten::{o.name}"]) for o in difference.added)
    )
    removed = {f"aten::{o.name}": _dimname(o.schema) for o in difference.removed}
    yield Section("Removed", len(removed), _grouped(removed))
    yield Section(
        "Schema changed",
        len(difference.schemas),
        tuple(
            ((f"aten::{c.name}",), f"{'backward compatible' if c.compatible else 'breaking'}: {c.old} became {c.new}")
            for c in difference.schemas
        ),
    )
    yield _gains("Core operator set", difference.core, "in the core set", "no longer in it")
    composite = {f"aten::{n}": f"{_word(a)} became {_word(b)}" for n, (a, b) in difference.composite.items()}
    yield Section("Composite", len(composite), _grouped(composite))
    tags = {
        f"aten::{n}": " ".join([*(f"+{t}" for t in g.gained), *(f"-{t}" for t in g.lost)])
        for n, g in difference.tags.items()
    }
    yield Section("Tags", len(tags), _grouped(tags))
    yield _gains("Decompositions in Python", difference.decompositions, "gained one", "lost it")
    yield _gains("Meta kernels in Python", difference.meta, "gained one", "lost it")
    yield _gains("Derivatives", difference.derivatives, "gained a formula", "lost it")
    keys: dict[str, list[str]] = defaultdict(list)
    for key, gains in difference.keys.items():
        for name in gains.gained:
            keys[f"+{key}"].append(f"aten::{name}")
        for name in gains.lost:
            keys[f"-{key}"].append(f"aten::{name}")
    yield Section("Dispatch keys", len(keys), tuple((tuple(names), word) for word, names in keys.items()))


def _gains(title: str, gains: Gains, gained: str, lost: str) -> Section:
    lines = [(tuple(f"aten::{n}" for n in names), word) for names, word in ((gains.gained, gained), (gains.lost, lost))]
    return Section(title, len(gains.gained) + len(gains.lost), tuple(line for line in lines if line[0]))


def _grouped(remarks: Mapping[str, str]) -> tuple[tuple[tuple[str, ...], str], ...]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, remark in remarks.items():
        groups[remark].append(name)
    return tuple((tuple(names), remark) for remark, names in groups.items())


def _described(kind: str, generated: str) -> str:
    return kind + (f", generated from {generated}" if generated else "")


def _dimname(schema: str) -> str:
    return "takes dimension names" if "Dimname" in schema else ""


def _word(composite: str) -> str:
    return composite or "none"
