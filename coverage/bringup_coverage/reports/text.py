"""A report for a terminal: totals by tier, why not, and what is missing, in the width there is."""

from __future__ import annotations

from typing import Any

from tabulate import tabulate

from bringup_coverage.reports.terminal import cut, paint, terminal_width, wants_colour
from bringup_coverage.reports.totals import (
    Totals,
    by_reason,
    by_tier,
    claim,
    headline,
    left_out,
    percent,
    total,
    wanted,
)

BAR = 24


def render_text(
    report: dict[str, Any], *, width: int | None = None, colour: bool | None = None, limit: int = 20
) -> str:
    """The summary of a report.

    Args:
        report: The coverage report.
        width: Columns to fit; the terminal's by default. No line is longer, from 20 columns on.
        colour: Whether to colour; by default on a terminal unless NO_COLOR is set.
        limit: How many uncovered overloads to list.
    """
    room, coloured = terminal_width(width), wants_colour(colour)
    group, totals = headline(report)
    said = f"{percent(totals.share)} of the {group} overloads of torch {report.get('torch', '?')}"
    parts = [
        paint(cut(f"{said} {claim(report)}", room), "bold", coloured) + "\n" + cut(_facts(report), room),
        _tiers(report, room, coloured),
        _reasons(report, room),
        _missing(report, room, coloured, limit),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(report: dict[str, Any]) -> str:
    facts = [f"evidence {report['evidence']}"] if report.get("evidence") else []
    facts += [f"bringup {report['bringup']}"] if report.get("bringup") else []
    facts += [str(report["created"])] if report.get("created") else []
    facts += [f"left out: {count:,} {left_out(what)}" for what, count in (report.get("skipped") or {}).items()]
    return ", ".join(facts)


def _bar(totals: Totals, cells: int, coloured: bool) -> str:
    """Three kinds of block, so that the bar reads without colour; what is there at all gets a cell where one is left."""
    if not totals.overloads:
        return ""
    native = round(cells * totals.native / totals.overloads)
    covered = round(cells * totals.share)
    if totals.none:
        covered = min(covered, cells - 1)
    native = max(min(native, covered), min(1, totals.native, covered))
    blocks = (("native", "█", native), ("decomposed", "▒", covered - native), ("none", "·", cells - covered))
    return "".join(paint(block * count, status, coloured) for status, block, count in blocks)


def _tiers(report: dict[str, Any], room: int, coloured: bool) -> str:
    groups = {**by_tier(report), "all": total(report)}
    heads = ["tier", "covered", "native", "decomposed", "none", "overloads", ""]
    label = max(8, min(24, room - 12))
    rows = [
        [cut(tier, label), percent(t.share), *(f"{n:,}" for n in (t.native, t.decomposed, t.none, t.overloads))]
        for tier, t in groups.items()
    ]
    aligned = ("left", *("right",) * 5, "left")
    plain = tabulate(rows, heads[:6], tablefmt="simple", colalign=aligned[:6], disable_numparse=True)
    free = room - max(map(len, plain.splitlines())) - 2
    if free >= 8:
        cells = min(BAR, free)
        drawn = [[*row, _bar(t, cells, coloured)] for row, t in zip(rows, groups.values(), strict=True)]
        key = f"{_sample('native', '█', coloured)}  {_sample('decomposed', '▒', coloured)}  {_sample('none', '·', coloured)}"
        table = tabulate(drawn, heads, tablefmt="simple", colalign=aligned, disable_numparse=True)
        return table + "\n" + (key if room >= 32 else "")
    if free >= -2:
        return plain
    short = [[r[0], r[1]] for r in rows]
    return tabulate(short, heads[:2], tablefmt="plain", colalign=aligned[:2], disable_numparse=True)


def _sample(status: str, block: str, coloured: bool) -> str:
    return f"{paint(block, status, coloured)} {status}"


def _reasons(report: dict[str, Any], room: int) -> str:
    rows = [[f"{count:,}", cut(reason, room - 10)] for reason, count in by_reason(report).items()]
    if not rows:
        return ""
    table = tabulate(rows, tablefmt="plain", colalign=("right", "left"), disable_numparse=True)
    return "why not\n" + "\n".join(cut_end(line, room) for line in table.splitlines())


def cut_end(line: str, room: int) -> str:
    """A line of a table, cut; its leading blanks stay."""
    body = line.lstrip(" ")
    indent = len(line) - len(body)
    return " " * indent + cut(body, room - indent)


def _missing(report: dict[str, Any], room: int, coloured: bool, limit: int) -> str:
    missing = wanted(report)
    if not missing or limit <= 0:
        return ""
    shown = missing[:limit]
    name = min(max(len(row["name"]) for row in shown), max(16, room // 2))
    left = room - name - 2
    rows = [[paint(cut(row["name"], name), "none", coloured), cut(_why(row), left)] for row in shown]
    if left < 12:
        lines = [cut(row["name"], room) for row in shown]
    else:
        lines = tabulate(rows, tablefmt="plain", disable_numparse=True).splitlines()
    more = [f"… and {len(missing) - limit:,} more"] if len(missing) > limit else []
    return "\n".join([cut("not covered, portable ones first", room), *lines, *more])


def _why(row: dict[str, Any]) -> str:
    """Reason and detail in one phrase."""
    return ": ".join(str(part) for part in (row.get("reason"), row.get("detail")) if part)
