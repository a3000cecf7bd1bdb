"""Two reports side by side: what a target gained and lost, and what PyTorch brought and took away."""

from __future__ import annotations

from typing import Any

from bringup_coverage.reports.terminal import cut, paint, terminal_width, wants_colour
from bringup_coverage.reports.totals import by_tier, percent

ORDER = {"none": 0, "decomposed": 1, "native": 2}
HEADINGS = {
    "better": "better verdict",
    "worse": "worse verdict",
    "changed": "same verdict, other grounds",
    "added": "new overloads",
    "removed": "vanished overloads",
}


def compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What changed from one report to another; every list is sorted by name.

    Where one is of a selection only, what it leaves out is neither new nor vanished.

    Args:
        old: The earlier report.
        new: The later one.

    Returns:
        `better` and `worse` (verdicts are ordered none < decomposed < native), `changed` (the same verdict for another
        reason, with other evidence or in other dtypes), `added` and `removed`. An entry has `name`, `tier`, `before`,
        `after` (a verdict, or None where there was no such overload) and `what`, a list of sentences.
    """
    old, new, _ = in_common(old, new)
    before = {row["name"]: row for row in old["overloads"]}
    after = {row["name"]: row for row in new["overloads"]}
    found: dict[str, list[dict[str, Any]]] = {heading: [] for heading in HEADINGS}
    for name in sorted(before.keys() | after.keys()):
        entry = _entry(before.get(name), after.get(name))
        heading = _heading(entry)
        if heading:
            found[heading].append(entry)
    return found


def in_common(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The two reports as far as they list the same, and a sentence on what is left out; empty where both are whole.

    A report of a selection says nothing of other overloads, so neither its totals nor its gaps compare with another's.
    """
    names = [{row["name"] for row in report["overloads"]} for report in (old, new)]
    if names[0] == names[1] or (old.get("complete", True) and new.get("complete", True)):
        return old, new, ""
    both = names[0] & names[1]
    cut_down = [
        {k: v for k, v in report.items() if k not in ("totals", "tiers")}
        | {"overloads": [row for row in report["overloads"] if row["name"] in both]}
        for report in (old, new)
    ]
    only = [
        f"{len(n - both):,} only in the {which}"
        for n, which in zip(names, ("first", "second"), strict=True)
        if n - both
    ]
    said = f"of different selections: compared are the overloads in both ({len(both):,}), {' and '.join(only)} left out"
    return cut_down[0], cut_down[1], said


def _entry(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    row = after or before or {}
    return {
        "name": row["name"],
        "tier": row["tier"],
        "before": before["status"] if before else None,
        "after": after["status"] if after else None,
        "what": _differences(before, after) if before and after else _reasons(row),
    }


def _heading(entry: dict[str, Any]) -> str | None:
    before, after = entry["before"], entry["after"]
    if before is None:
        return "added"
    if after is None:
        return "removed"
    step = ORDER.get(after, 0) - ORDER.get(before, 0)
    if step:
        return "better" if step > 0 else "worse"
    return "changed" if entry["what"] else None


def _reasons(row: dict[str, Any]) -> list[str]:
    return [str(row["reason"])] if row.get("reason") else []


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs beside the verdict, a sentence each."""
    levels = [(row.get("evidence") or {}).get("level") for row in (before, after)]
    pairs: list[tuple[str, Any, Any]] = [
        ("reason", before.get("reason"), after.get("reason")),
        ("evidence", levels[0], levels[1]),
        ("schema", before.get("schema"), after.get("schema")),
    ]
    said = [_step(label, was, now) for label, was, now in pairs if was != now]
    old, new = before.get("dtypes") or {}, after.get("dtypes") or {}
    steps: dict[str, list[str]] = {}
    for dtype in old.keys() & new.keys():
        if old[dtype] != new[dtype]:
            steps.setdefault(f"{old[dtype]} → {new[dtype]}", []).append(dtype)
    return said + [f"{', '.join(sorted(dtypes))}: {step}" for step, dtypes in sorted(steps.items())]


def _step(label: str, was: str | None, now: str | None) -> str:
    if was and now:
        return f"{label}: {was} → {now}"
    return f"{label}: {now}" if now else f"{label} was: {was}"


def render_comparison(
    old: dict[str, Any], new: dict[str, Any], *, width: int | None = None, colour: bool | None = None, limit: int = 20
) -> str:
    """The comparison for a terminal.

    Args:
        old: The earlier report.
        new: The later one.
        width: Columns to fit; the terminal's by default.
        colour: Whether to colour; by default on a terminal unless NO_COLOR is set.
        limit: How many overloads to list under each heading; the rest is counted.
    """
    room, coloured = terminal_width(width), wants_colour(colour)
    differ = old.get("target") != new.get("target")
    old, new, left_out = in_common(old, new)
    head = [f"{_source(old)} → {_source(new)}", *([f"  {left_out}"] if left_out else []), *_shares(old, new)]
    lines = [cut(line, room) for line in head]
    for heading, entries in compare(old, new).items():
        where = f" on {new.get('target', '?')}" if heading in ("better", "worse") and differ else ""
        lines += ["", paint(cut(f"{len(entries):,} {HEADINGS[heading]}{where}", room), "bold", coloured)]
        for entry in entries[:limit]:
            steps = " → ".join(s for s in (entry["before"], entry["after"]) if s)
            said = steps if heading in ("better", "worse") else "; ".join(entry["what"]) or steps
            lines.append(paint(cut(f"  {entry['name']}  {said}", room), heading, coloured))
        if len(entries) > limit:
            lines.append(cut(f"  … and {len(entries) - limit:,} more", room))
    return "\n".join(lines) + "\n"


def _source(report: dict[str, Any]) -> str:
    return f"{report.get('target', '?')} on torch {report.get('torch', '?')} ({report.get('created', 'no date')[:10]})"


def _shares(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line per tier whose share moved."""
    was, now = by_tier(old), by_tier(new)
    return [
        f"  {tier}: {percent(was[tier].share)} → {percent(now[tier].share)}"
        for tier in now
        if tier in was and percent(was[tier].share) != percent(now[tier].share)
    ]
