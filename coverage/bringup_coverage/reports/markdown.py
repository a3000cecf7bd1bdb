"""A report as Markdown: for a README, a release note or a comment on a change."""

from __future__ import annotations

import re
from typing import Any

from bringup_coverage.reports.terminal import cut
from bringup_coverage.reports.totals import by_reason, by_tier, claim, headline, percent, total, wanted

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def render_markdown(report: dict[str, Any], *, limit: int = 50) -> str:
    """Totals by tier, reasons, and the uncovered overloads, the portable ones first.

    Args:
        report: The coverage report.
        limit: How many uncovered overloads to list; the rest is counted.
    """
    group, totals = headline(report)
    target, torch = plain(str(report.get("target", "?"))), plain(str(report.get("torch", "?")))
    parts = [
        f"# Operator coverage of {target}",
        f"**{percent(totals.share)}** of the {group} overloads of PyTorch {torch} {plain(claim(report))}.",
        _tiers(report),
        _reasons(report),
        _missing(report, limit),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """A text that Markdown shows as it is, in one line."""
    return SPECIAL.sub(r"\\\1", cut(text, 400))


def code(text: str) -> str:
    """A text as code inside a table cell; a name with a backtick or a bar is escaped instead."""
    return plain(text) if "`" in text or "|" in text else f"`{cut(text, 200)}`"


def _table(heads: list[str], rows: list[list[str]], right: int) -> str:
    """A table whose last `right` columns are numbers."""
    rule = ["---"] * (len(heads) - right) + ["--:"] * right
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows))


def _tiers(report: dict[str, Any]) -> str:
    groups = {**by_tier(report), "all": total(report)}
    rows = [
        [plain(tier), percent(t.share), *(f"{n:,}" for n in (t.native, t.decomposed, t.none, t.overloads))]
        for tier, t in groups.items()
    ]
    return _table(["tier", "covered", "native", "decomposed", "none", "overloads"], rows, right=5)


def _reasons(report: dict[str, Any]) -> str:
    rows = [[plain(reason), f"{count:,}"] for reason, count in by_reason(report).items()]
    return "## Why not\n\n" + _table(["reason", "overloads"], rows, right=1) if rows else ""


def _missing(report: dict[str, Any], limit: int) -> str:
    missing = wanted(report)
    if not missing:
        return ""
    rows = [
        [code(row["name"]), plain(row["tier"]), plain(row.get("reason") or ""), plain(row.get("detail") or "")]
        for row in missing[:limit]
    ]
    more = f"\n\n… and {len(missing) - limit:,} more." if len(missing) > limit else ""
    return f"## Not covered\n\n{_table(['overload', 'tier', 'reason', 'detail'], rows, right=0)}{more}"
