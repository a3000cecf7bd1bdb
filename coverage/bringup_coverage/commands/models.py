"""`bringup models`: tiny transformers architectures against eager, inference and a training step, resumable."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import click

from bringup_coverage.files import write_output

STATUSES = ("pass", "fallback", "fail", "error", "crash", "timeout", "excluded")
EXPECTED = ("pass", "excluded")


@click.command(epilog="Example: bringup models --only decoder --optional-kernels --jobs 2 --list")
@click.option("--only", default="*", help="Shell pattern of model types or kinds.")
@click.option("--backend", default="bringup", show_default=True, help="Any backend that torch.compile knows.")
@click.option(
    "--optional-kernels/--required-only", default=False, show_default=True, help="Use the target's fused kernels."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=300.0,
    show_default=True,
    help="Seconds that one architecture may take.",
)
@click.option(
    "--journal", type=click.Path(path_type=Path), default=Path(".conformance/models.jsonl"), show_default=True
)
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has done.")
@click.option(
    "--output", type=click.Path(path_type=Path), default=None, help="Write all outcomes as JSON to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the totals as JSON.")
@click.option("--list", "show", is_flag=True, help="List everything that does not pass, and what ran on the host.")
def models(
    only: str,
    backend: str,
    optional_kernels: bool,
    jobs: int,
    timeout: float,
    journal: Path,
    fresh: bool,
    output: Path | None,
    as_json: bool,
    show: bool,
) -> None:
    """Run tiny transformers models through a backend and compare inference and one training step with eager.

    A killed run goes on where it stopped. Exit status: 0 all pass or are excluded with a reason, 1 not, 2 usage,
    3 interrupted.
    """
    from bringup_coverage.model_sweep import ModelSettings, selected, sweep_models

    if not selected(only):
        raise click.UsageError(f"--only {only!r} matches no model type and no kind")
    settings = ModelSettings(backend, optional_kernels)
    try:
        rows = sweep_models(settings, only, journal, jobs=jobs, timeout=timeout, fresh=fresh)
    except KeyboardInterrupt:
        click.echo(f"interrupted; the same command goes on from {journal}", err=True)
        raise SystemExit(3) from None
    if output is not None:
        write_output(output, json.dumps({"settings": settings.to_dict(), "outcomes": rows}, indent=1))
    totals = totals_of(rows)
    click.echo(json.dumps(totals, indent=1) if as_json else table(totals))
    if show:
        click.echo("\n".join(lines(rows)))
    raise SystemExit(0 if all(r["status"] in EXPECTED for r in rows) else 1)


def totals_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Counts by kind and status, with the programs compiled and the processor time; the last row is of all kinds."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    groups = {kind: [r for r in rows if r["kind"] == kind] for kind in kinds} | {"all": rows}
    totals: dict[str, dict[str, Any]] = {}
    for kind, members in groups.items():
        counts = Counter(r["status"] for r in members)
        programs, seconds = sum(r["programs"] for r in members), sum(r["seconds"] for r in members)
        totals[kind] = {s: counts[s] for s in STATUSES} | {"programs": programs, "seconds": round(seconds, 1)}
    return totals


def table(totals: dict[str, dict[str, Any]]) -> str:
    """The totals as a table."""
    from tabulate import tabulate

    columns = (*STATUSES, "programs", "seconds")
    return tabulate([[k, *(t[c] for c in columns)] for k, t in totals.items()], headers=["kind", *columns])


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """Whatever does not pass, one line each; then the operators that ran on the host, with their models."""
    shown = [
        f"{r['case']:30} {r['status']:9} {r['detail'].splitlines()[0] if r['detail'] else ''}"
        for r in rows
        if r["status"] != "pass"
    ]
    users: dict[str, dict[str, None]] = {}
    for row in rows:
        for fallback in row["fallbacks"]:
            name = f"{fallback['operator']} ({fallback['reason']}: {fallback['detail']})"
            users.setdefault(name, {})[row["case"]] = None
    shown += [f"on the host: {name}: {', '.join(cases)}" for name, cases in sorted(users.items())]
    return shown
