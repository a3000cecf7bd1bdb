"""The history of operators over all releases that ship."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bringup_codegen.snapshots.compatible import backward_compatible
from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import Schema


@dataclass(frozen=True)
class Event:
    """What a release did to one overload.

    Attributes:
        release: the first snapshot that shows it.
        overload: without the namespace.
        fact: added, removed, schema, tags, keys, composite, structured, decomposition, meta, derivative, ...
        text: what changed, for a person.
    """

    release: str
    overload: str
    fact: str
    text: str


def overloads_named(name: str, snapshots: Iterable[Snapshot]) -> list[str]:
    """Overloads that `name` stands for in any release: itself, or for a name without overload every one of that operator."""
    plain = name.removeprefix("aten::")
    packet, dot, overload = plain.partition(".")
    names = {n for s in snapshots for n in s.operators}
    if dot:
        wanted = packet if overload == "default" else plain
        return [wanted] if wanted in names else []
    return sorted(n for n in names if n.partition(".")[0] == packet)


def history(overload: str, snapshots: Iterable[Snapshot]) -> list[Event]:
    """What each release did to one overload, oldest first."""
    events: list[Event] = []
    before: Operator | None = None
    first = True
    for snapshot in snapshots:
        now = snapshot.operators.get(overload)
        if before is None and now is not None:
            added = f"{'there since this release or an earlier one' if first else 'added'}: {now.schema}"
            events.append(Event(snapshot.torch, overload, "added", added))
        elif before is not None and now is None:
            events.append(Event(snapshot.torch, overload, "removed", "removed"))
        elif before is not None and now is not None and before != now:
            events += [Event(snapshot.torch, overload, fact, text) for fact, text in changes(before, now)]
        before, first = now, False
    return events


def changes(old: Operator, new: Operator) -> list[tuple[str, str]]:
    """Which facts differ, each with a sentence."""
    found: list[tuple[str, str]] = []
    if old.schema != new.schema:
        rule = backward_compatible(Schema.parse(old.schema), Schema.parse(new.schema))
        found.append(("schema", f"{'backward compatible' if rule else 'breaking'}: {old.schema} became {new.schema}"))
    for fact in ("tags", "keys", "variants", "autogen"):
        before, after = set(getattr(old, fact)), set(getattr(new, fact))
        words = [f"+{w}" for w in sorted(after - before)] + [f"-{w}" for w in sorted(before - after)]
        if words:
            found.append((fact, " ".join(words)))
    for fact in ("composite", "structured", "generated", "decomposition", "pre_autograd", "meta"):
        a, b = getattr(old, fact), getattr(new, fact)
        if a != b:
            found.append((fact, f"gained {b}" if not a else f"lost {a}" if not b else f"{a} became {b}"))
    for fact in ("derivative", "core_decomposition"):
        a, b = getattr(old, fact), getattr(new, fact)
        if a != b:
            found.append((fact, "gained" if b else "lost"))
    return found
