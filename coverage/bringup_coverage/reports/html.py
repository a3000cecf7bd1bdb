"""A report as one HTML page that needs no network: what is missing, why, and what a change brought.

The page's parts lie in `page/`: a Jinja template for what is there before any script runs (totals, reasons), style
sheets and scripts, which are put into it in the order of `STYLES` and `SCRIPTS`.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from bringup_coverage.reports.compare import compare
from bringup_coverage.reports.pack import embed, pack
from bringup_coverage.reports.totals import Totals, by_reason, by_tier, claim, headline, left_out, percent, total

STYLES = ("colours.css", "layout.css", "table.css", "views.css", "print.css")
SCRIPTS = (
    "data.js",
    "dom.js",
    "filters.js",
    "grid.js",
    "operators.js",
    "detail.js",
    "models.js",
    "changes.js",
    "main.js",
)


def render_html(report: dict[str, Any], earlier: dict[str, Any] | None = None) -> str:
    """The page.

    Args:
        report: The coverage report.
        earlier: A report to compare with: gained, lost and changed verdicts, new and vanished overloads.

    Returns:
        A complete document; everything it shows is inside it.
    """
    changes = compare(earlier, report) if earlier is not None else None
    group, summed = headline(report)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "count": "{:,}".format, "parts": _parts}
    page = environment.from_string(_part("page.html.j2")).render(
        group=group,
        headline=summed,
        total=total(report),
        tiers=by_tier(report),
        reasons=by_reason(report),
        facts=_facts(report),
        skipped={left_out(what): count for what, count in (report.get("skipped") or {}).items()},
        target=report.get("target", "the target"),
        claim=claim(report),
        torch=report.get("torch", "?"),
        tabs=_tabs(report, changes),
        style=Markup("\n".join(_part(name) for name in STYLES)),
        script=Markup("\n".join(_part(name) for name in SCRIPTS)),
        data=Markup(embed(pack(report, changes, _source(earlier)))),
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _part(name: str) -> str:
    return (files("bringup_coverage.reports") / "page" / name).read_text(encoding="utf-8")


def _facts(report: dict[str, Any]) -> dict[str, str]:
    """What stands in the page's head."""
    labels = {
        "target": "target",
        "torch": "PyTorch",
        "evidence": "evidence",
        "bringup": "bringup",
        "created": "scanned",
    }
    facts = {label: str(report[key]) for key, label in labels.items() if report.get(key)}
    if "scanned" in facts:
        facts["scanned"] = facts["scanned"].replace("T", " ", 1).removesuffix(":00Z").removesuffix("Z") + " UTC"
    return facts


def _tabs(report: dict[str, Any], changes: dict[str, Any] | None) -> dict[str, str]:
    """The views that have something to show."""
    rows = report["overloads"]
    shown = {
        "operators": True,
        "dtypes": any(row.get("dtypes") for row in rows),
        "models": any(row.get("models") for row in rows),
        "changes": changes is not None,
    }
    labels = {"operators": "Operators", "dtypes": "Dtypes", "models": "Models", "changes": "Changes"}
    return {view: label for view, label in labels.items() if shown[view]}


def _source(earlier: dict[str, Any] | None) -> str:
    if earlier is None:
        return ""
    date = str(earlier.get("created", ""))[:10]
    return f"{earlier.get('target', '?')} on PyTorch {earlier.get('torch', '?')}" + (f", {date}" if date else "")


def _parts(totals: Totals) -> list[tuple[str, int, str]]:
    """Verdict, count and width in percent of the parts of a bar; what is there at all is at least a sliver."""
    counts = {"native": totals.native, "decomposed": totals.decomposed, "none": totals.none}
    return [(s, n, f"{max(100 * n / totals.overloads, 0.8):.2f}") for s, n in counts.items() if n]
