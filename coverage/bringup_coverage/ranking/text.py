"""The ranking as text, and what is said of the set."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from bringup_coverage.ranking.check import Checked
from bringup_coverage.ranking.rank import Ranking, Row

HEADERS = ("kernel", "overloads", "OpInfos", "models", "helps overloads", "helps models", "calls", "set")
NOTES = (
    "overloads, OpInfos, models: what the kernel unlocks alone; helps: what needs it together with others; calls: in models that lack "
    "something; set: its place in the set below. Kernels with * the target has, but for other dtypes or calls."
)


def render(ranking: Ranking, subject: str, limit: int | None, checked: Sequence[Checked], *, markdown: bool) -> str:
    """The ranking and the set, for a terminal or as Markdown."""
    style = "github" if markdown else "simple"
    shown = ranking.rows[:limit]
    parts = [
        f"{subject}: covered are {covered(ranking)}.",
        tabulate([_cells(r) for r in shown], headers=HEADERS, tablefmt=style) if shown else "No kernel is missing.",
    ]
    if len(shown) < len(ranking.rows):
        parts.append(f"{len(ranking.rows) - len(shown):,} more; --limit shows them, --format json lists all.")
    parts += [NOTES] if shown else []
    parts.append(summary(ranking, checked))
    steps = [(r.order, _name(r), r.models_after) for r in ranking.smallest]
    if steps:
        parts.append(tabulate(steps, headers=("", "kernel", "models covered"), tablefmt=style))
    return "\n\n".join(parts)


def covered(ranking: Ranking) -> str:
    """What is covered before anything is written."""
    names = {"overloads": "overloads", "opinfos": "OpInfos", "models": "models"}
    return ", ".join(f"{have:,} of {total:,} {names[what]}" for what, (have, total) in ranking.covered.items())


def summary(ranking: Ranking, checked: Sequence[Checked]) -> str:
    """The sentences on the smallest set."""
    whom = ranking.wanted[0] if len(ranking.wanted) == 1 else f"all {len(ranking.wanted)} models"
    size = len(ranking.smallest)
    if not size:
        return f"Nothing is missing for {whom}."
    least = ranking.at_least
    among = "Of kernels of the overloads that are called, or of what their calls end in,"
    bound = f"{among} no set is smaller." if least == size else f"{among} no set has fewer than {least}."
    said = [f"The smallest set found that unlocks {whom}: {_kernels(size)}, in the order to write them. {bound}"]
    if len(ranking.wanted) > 1 and ranking.wanted_covered:
        said.append(f"{ranking.wanted_covered} of the models are covered without it.")
    if checked:
        judged, wrong = sum(bool(c.calls) for c in checked), [c for c in checked if c.problem]
        none = len(checked) - judged
        silent = f"; of {none} more there is no call to judge" if none else ""
        said.append(
            f"With it, the target takes calls of {judged - len(wrong)} of {judged} overloads it lacked{silent}."
        )
        said += [f"Refused even so: {c.overload}: {c.problem}" for c in wrong]
    if ranking.unjudged:
        said.append(
            f"Not judged, and taken as covered, as this torch's catalogue does not list them: {', '.join(ranking.unjudged)}."
        )
    return "\n".join(said)


def _kernels(count: int) -> str:
    return f"{count} kernel{'s' if count != 1 else ''}"


def _name(row: Row) -> str:
    return row.overload + ("*" if row.has_kernel else "")


def _cells(row: Row) -> tuple[object, ...]:
    return (
        _name(row),
        row.unlocks_overloads,
        row.unlocks_opinfos,
        row.unlocks_models,
        row.helps_overloads,
        row.helps_models,
        row.calls,
        row.order or "",
    )
