"""What the step from one release to another does to a target: kernels, verdicts by the tables, new operators, what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from bringup_codegen.snapshots import Difference, SchemaChange, Snapshot
from bringup_coverage.releases.catalogue import catalogue_of
from bringup_coverage.releases.tables import Tables
from bringup_coverage.scan.declared import Claim, Declared

_TIERS = ("portable", "foreach", "random", "data-dependent")  # that a target is expected to cover


@dataclass(frozen=True)
class Verdicts:
    """An operator that both releases have and that is judged otherwise; `why` is a sentence."""

    name: str
    old: str
    new: str
    why: str


@dataclass(frozen=True)
class Arrival:
    """A new operator: its packet and kind, its tier, its declared verdict, how it is covered or why not."""

    name: str
    family: str
    kind: str
    tier: str
    status: str
    why: str


@dataclass(frozen=True)
class Effect:
    """All of it; names are with the namespace.

    Attributes:
        target: its name.
        rows: how many kernels it has.
        vanished: kernels of operators that the new release does not have.
        changed: kernels of operators whose schema is another.
        verdicts: declared verdicts that change.
        arrivals: what is new.
    """

    target: str
    rows: int
    vanished: tuple[str, ...]
    changed: tuple[SchemaChange, ...]
    verdicts: tuple[Verdicts, ...]
    arrivals: tuple[Arrival, ...]

    @property
    def covered(self) -> tuple[Arrival, ...]:
        """New operators that the tables already reach."""
        return tuple(a for a in self.arrivals if a.status != "none")

    @property
    def to_do(self) -> tuple[str, ...]:
        """What its authors have to do, the most pressing first."""
        return tuple(self._tasks())

    def _tasks(self) -> Iterator[str]:
        for name in self.vanished:
            yield f"remove the kernel of {name}: the operator is gone"
        for change in self.changed:
            if not change.compatible:
                yield f"adapt the kernel of aten::{change.name}: its schema became {change.new}, which breaks callers of the old one"
        for change in self.changed:
            if change.compatible:
                yield f"look at the kernel of aten::{change.name}: its schema became {change.new}; old calls still fit"
        for verdict in self.verdicts:
            if verdict.new == "none":
                yield f"write a kernel or a decomposition for {verdict.name}, which was {verdict.old}: {verdict.why}"
        for names, arrival in self._wanted():
            others = f" and its forms {', '.join(names[1:])}" if len(names) > 1 else ""
            yield f"write a kernel or a decomposition for the new {names[0]}{others} ({arrival.tier})"

    def _wanted(self) -> Iterator[tuple[list[str], Arrival]]:
        """New operators that nothing reaches, an operator's overloads together, the functional one first."""
        families: dict[str, list[Arrival]] = defaultdict(list)
        for arrival in self.arrivals:
            if arrival.status == "none" and arrival.tier in _TIERS:
                families[arrival.family].append(arrival)
        for arrivals in families.values():
            ordered = sorted(arrivals, key=lambda a: (a.kind != "functional", a.name))
            yield [a.name for a in ordered], ordered[0]


def effect(tables: Tables, old: Snapshot, new: Snapshot, difference: Difference) -> Effect:
    """What the step does to the target of `tables`, by the tables alone: a claim, as `--evidence declared` is."""
    before, after = _declared(tables, old), _declared(tables, new)
    verdicts = []
    for name in sorted(set(before.catalogue.operators) & set(after.catalogue.operators)):
        a = before.claim(before.catalogue.operators[name])
        b = after.claim(after.catalogue.operators[name])
        if a.status != b.status:
            verdicts.append(Verdicts(name, a.status, b.status, _why(b, a, old.torch)))
    arrivals = []
    for entry in difference.added:
        operator = after.catalogue.operators[f"aten::{entry.name}"]
        claim = after.claim(operator)
        arrivals.append(
            Arrival(operator.name, operator.family[1], operator.kind.value, operator.tier, claim.status, _why(claim))
        )
    return Effect(
        target=tables.name,
        rows=len(tables.rows),
        vanished=tuple(f"aten::{o.name}" for o in difference.removed if f"aten::{o.name}" in tables.rows),
        changed=tuple(c for c in difference.schemas if f"aten::{c.name}" in tables.rows),
        verdicts=tuple(verdicts),
        arrivals=tuple(arrivals),
    )


def _declared(tables: Tables, snapshot: Snapshot) -> Declared:
    return tables.declared(snapshot, catalogue_of(snapshot))


def _why(claim: Claim, before: Claim | None = None, release: str = "") -> str:
    """How it is covered, or why it is not; then how it was."""
    if claim.status == "native":
        said = "a kernel"
    elif claim.decomposition and claim.decomposition["where"]:
        said = f"{claim.detail} ({claim.decomposition['where']}: {claim.decomposition['name']})"
    else:
        said = claim.detail
    if before is not None and before.detail and before.status != claim.status:
        said += f"; in {release}: {before.detail}"
    return said
