"""What the counts of all overloads say of each entry of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bringup.decompositions import default_decompositions
from bringup.target.target import Target
from bringup.torch_internals import OpOverload, is_composite_implicit, overload_name
from bringup_coverage.lint.harm import Harm
from bringup_coverage.lint.usage import Count
from bringup_coverage.lint.watch import Watched
from bringup_coverage.places import place_of


class Finding(Enum):
    """What may be wrong with an entry."""

    HARMFUL = "harmful"
    DEAD = "dead"
    SHADOWED = "shadowed"
    OVERRIDING = "overriding"
    UNSEEN = "unseen"


@dataclass
class Seen:
    """The sum of all traces."""

    counts: dict[str, Count] = field(default_factory=dict)
    traced: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    harms: dict[str, list[Harm]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)

    def add(self, watched: Watched) -> None:
        """Add what one worker saw."""
        for name, count in watched.counts.items():
            self.counts.setdefault(name, Count()).add(count)
        self.traced[watched.name] = self.traced.get(watched.name, 0) + watched.traced
        self.failed[watched.name] = self.failed.get(watched.name, 0) + watched.failed
        for harm in watched.harms:
            self.harms.setdefault(harm.entry, []).append(harm)
        if watched.lost:
            self.lost[watched.name] = watched.lost

    def unused(self, target: Target) -> list[str]:
        """The entries that no trace took."""
        names = map(overload_name, target.decompositions)
        return sorted(n for n in names if not self.counts.get(n, Count()).taken)


def findings(target: Target, seen: Seen) -> list[dict[str, Any]]:
    """What is to be said of the entries, the worst first: ``kind``, ``overload``, ``detail``, ``place`` and ``counts``.

    Harm that is done to a kernel has no place: it is not an entry of the table that passes it by.
    """
    rows = [_harmful(target, name, harms) for name, harms in seen.harms.items()]
    ours = default_decompositions()
    for overload, entry in target.decompositions.items():
        kind_and_why = _said(overload, seen) or _overrides(overload, entry, ours)
        if kind_and_why is not None:
            rows.append(_row(target, overload, *kind_and_why, seen.counts.get(overload_name(overload), Count())))
    order = list(Finding)
    return sorted(rows, key=lambda r: (order.index(Finding(r["kind"])), r["overload"]))


def _harmful(target: Target, name: str, harms: list[Harm]) -> dict[str, Any]:
    first = harms[0]
    detail = f"{first.call}: {first.detail}; would run by {first.instead}"
    more = f" (and {len(harms) - 1} more calls)" if len(harms) > 1 else ""
    entry = next((fn for op, fn in target.decompositions.items() if overload_name(op) == name), None)
    return {
        "kind": Finding.HARMFUL.value,
        "overload": name,
        "detail": detail + more,
        "place": None if entry is None or first.instead.startswith("its own") else place_of(entry).to_dict(),
        "counts": None,
    }


def _row(target: Target, overload: OpOverload, kind: Finding, detail: str, count: Count) -> dict[str, Any]:
    place = place_of(target.decompositions[overload]).to_dict()
    return {
        "kind": kind.value,
        "overload": overload_name(overload),
        "detail": detail,
        "place": place,
        "counts": dict(vars(count)),
    }


def _said(overload: OpOverload, seen: Seen) -> tuple[Finding, str] | None:
    """What an unused entry is; None for one that is used."""
    name = overload_name(overload)
    count = seen.counts.get(name, Count())
    if count.taken:
        return None
    if count.kernel and not count.raised:
        more = f"; the other {count.declined} it declined" if count.declined else ""
        return Finding.SHADOWED, f"the kernel took {count.kernel} calls that came by{more}"
    if count.raised:
        return Finding.DEAD, f"it failed on {count.raised} calls, and took none"
    if count.declined:
        return Finding.DEAD, f"it declined all {count.declined} calls that came by"
    if name in seen.lost:
        return Finding.UNSEEN, f"the traces of its calls ended: {seen.lost[name]}"
    if seen.traced.get(name):
        return Finding.DEAD, _why_not_asked(overload, seen.traced[name])
    if seen.failed.get(name):
        return Finding.UNSEEN, f"none of its {seen.failed[name]} calls can be traced"
    return Finding.UNSEEN, "no call of it is recorded, and no trace came by"


def _why_not_asked(overload: OpOverload, traced: int) -> str:
    if is_composite_implicit(overload):
        return (
            f"{traced} calls were traced, and PyTorch decomposes the operator above the device before a table is asked"
        )
    return f"{traced} calls of it were traced, and none asked for it"


def _overrides(overload: OpOverload, entry: Any, ours: Mapping[OpOverload, Any]) -> tuple[Finding, str] | None:
    """What a user's entry wins over."""
    other = ours.get(overload)
    if other is None or other is entry or place_of(entry).origin != "user" or place_of(other).origin != "bringup":
        return None
    return Finding.OVERRIDING, f"wins over bringup's, {place_of(other)}"
