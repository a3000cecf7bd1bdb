"""The findings for a terminal."""

from __future__ import annotations

from typing import Any

from tabulate import tabulate

LISTED_OF_PYTORCH = ("harmful",)
"""Of entries that come from PyTorch's own table only these kinds are listed one by one: nobody here can delete the others."""


def render(found: dict[str, Any]) -> str:
    """A table of the findings about the target's own entries, and counts of those about PyTorch's."""
    listed = [r for r in found["findings"] if r["kind"] in LISTED_OF_PYTORCH or _origin(r) != "pytorch"]
    shown = [[r["kind"], r["overload"], _where(r), r["detail"]] for r in listed if r["kind"] != "unseen"]
    shown += _unseen([r for r in listed if r["kind"] == "unseen"])
    parts = (
        [tabulate(shown, headers=["finding", "overload", "where", "detail"], maxcolwidths=[None, None, 60, 90])]
        if shown
        else []
    )
    theirs = [r for r in found["findings"] if r not in listed]
    if theirs:
        kinds = [r["kind"] for r in theirs]
        counts = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
        parts.append(f"of the entries taken from PyTorch's own table: {counts} (--format json lists them)")
    parts.append(_summary(found))
    return "\n\n".join(parts)


def _unseen(rows: list[dict[str, Any]]) -> list[list[str]]:
    """One row for each reason in each file: where no call is recorded there are whole families."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        groups.setdefault((row["place"]["file"], row["detail"]), []).append(row["overload"])
    return [
        ["unseen", names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more", file, detail]
        for (file, detail), names in groups.items()
    ]


def _summary(found: dict[str, Any]) -> str:
    entries = ", ".join(f"{n} of {origin}" for origin, n in found["entries"].items())
    totals = ", ".join(f"{n} {kind}" for kind, n in found["totals"].items())
    total = sum(found["entries"].values())
    lost = f"; {len(found['lost'])} overloads were given up" if found["lost"] else ""
    return (
        f"{found['target']}: {found['used']} of {total} entries are used ({entries}); {totals}\n"
        f"traced: {found['calls']} calls of {found['overloads']} overloads, {found['untraceable']} could not be traced{lost}"
    )


def _origin(row: dict[str, Any]) -> str | None:
    return row["place"]["origin"] if row["place"] else None


def _where(row: dict[str, Any]) -> str:
    place = row["place"]
    return f"{place['file']}:{place['line']}" if place and place["file"] else ""
