"""`bringup conformance`: every OpInfo against eager, in parallel, resumable."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import click

STATUSES = ("pass", "fail", "fallback", "error", "crash", "timeout", "untraceable")


@click.command(epilog="Example: bringup conformance --dtypes float32,bfloat16 --only 'nn.functional.*' --jobs 2")
@click.option("--dtypes", default="float32", show_default=True, help="Comma-separated dtypes.")
@click.option("--only", default="*", help="Shell pattern of OpInfo names.")
@click.option("--samples", type=int, default=None, help="At most this many samples a case (all of them without it).")
@click.option("--forward-only", is_flag=True, help="Leave the gradients out.")
@click.option("--optional-kernels/--required-only", default=False, show_default=True, help="Use the target's fused kernels.")
@click.option("--target", default="sim", show_default=True, help="The target: sim, or package.module:object.")
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True, help="Workers at a time.")
@click.option("--timeout", type=float, default=300.0, show_default=True, help="Seconds that one case may take.")
@click.option("--journal", type=click.Path(path_type=Path), default=Path(".conformance/journal.jsonl"), show_default=True)
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has done.")
@click.option("--output", type=click.Path(path_type=Path), default=None, help="Write all outcomes as JSON to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the totals as JSON.")
@click.option("--list", "show", is_flag=True, help="List everything that does not pass.")
@click.option("--expect", type=click.Path(path_type=Path, exists=True), default=None, help="A golden list to hold the outcomes against.")
def conformance(
    dtypes: str,
    only: str,
    samples: int | None,
    forward_only: bool,
    optional_kernels: bool,
    target: str,
    jobs: int,
    timeout: float,
    journal: Path,
    fresh: bool,
    output: Path | None,
    as_json: bool,
    show: bool,
    expect: Path | None,
) -> None:
    """Run OpInfo samples through the backend and compare results and gradients with eager.

    A killed run goes on where it stopped. Exit status: 0 all as expected, 1 not, 2 usage, 3 interrupted.
    """
    from bringup_coverage.sweep import Settings, sweep

    settings = Settings(tuple(dtypes.split(",")), only, samples, forward_only, optional_kernels, target)
    rows = sweep(settings, journal, jobs=jobs, timeout=timeout, fresh=fresh)
    if output is not None:
        temporary = output.with_suffix(output.suffix + ".tmp")
        temporary.write_text(json.dumps({"settings": settings.to_dict(), "outcomes": rows}, indent=1) + "\n", encoding="utf-8")
        temporary.replace(output)
    totals = totals_of(rows)
    click.echo(json.dumps(totals, indent=1) if as_json else table(totals))
    if show:
        for row in rows:
            if row["status"] != "pass":
                click.echo(f"{row['case']:50} {row['status']:12} {row['detail'].splitlines()[0] if row['detail'] else ''}")
    if expect is not None:
        raise SystemExit(_against(rows, expect))


def totals_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Counts by dtype and status, and the share of the traceable cases that pass."""
    totals: dict[str, dict[str, Any]] = {}
    for dtype in sorted({row["case"].rsplit(":", 1)[1] for row in rows}):
        counts = Counter(row["status"] for row in rows if row["case"].endswith(f":{dtype}"))
        traceable = sum(counts.values()) - counts["untraceable"]
        share = counts["pass"] / traceable if traceable else 1.0
        totals[dtype] = {s: counts[s] for s in STATUSES} | {"traceable": traceable, "share": round(share, 4)}
    return totals


def table(totals: dict[str, dict[str, Any]]) -> str:
    """The totals as a table."""
    from tabulate import tabulate

    rows = [[d, *(t[s] for s in STATUSES), t["traceable"], f"{t['share']:.1%}"] for d, t in totals.items()]
    return tabulate(rows, headers=["dtype", *STATUSES, "traceable", "pass / traceable"])


def _against(rows: list[dict[str, Any]], path: Path) -> int:
    """0 when the outcomes that the golden list knows are the same now, else 1, with every difference named."""
    golden = dict(line.split()[:2] for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    unexpected = [(r, golden.get(r["case"], "pass")) for r in rows if golden.get(r["case"], "pass") != r["status"]]
    for row, before in unexpected:
        click.echo(f"{row['case']}: {row['status']}, expected {before}. {row['detail'].splitlines()[0] if row['detail'] else ''}")
    return 1 if unexpected else 0


