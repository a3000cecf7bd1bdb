"""`bringup conformance`: every OpInfo against eager, in parallel, resumable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from bringup_coverage.files import write_output
from bringup_coverage.golden import STATUSES, differences, golden, one_line, refuse_others, totals_of


@click.command(epilog="Example: bringup conformance --dtypes float32,bfloat16 --only 'nn.functional.*' --jobs 2")
@click.option("--dtypes", default="float32", show_default=True, help="Comma-separated dtypes.")
@click.option("--only", default="*", help="Shell pattern of OpInfo names.")
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=None,
    help="At most this many samples a case (all of them without it).",
)
@click.option("--forward-only", is_flag=True, help="Leave the gradients out.")
@click.option(
    "--optional-kernels/--required-only", default=False, show_default=True, help="Use the target's fused kernels."
)
@click.option(
    "--target", default="sim", show_default=True, help="The target: sim, package.module:object, or a TOML file."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=300.0, show_default=True, help="Seconds that one case may take."
)
@click.option(
    "--journal", type=click.Path(path_type=Path), default=Path(".conformance/journal.jsonl"), show_default=True
)
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has done.")
@click.option(
    "--output", type=click.Path(path_type=Path), default=None, help="Write all outcomes as JSON to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the totals as JSON.")
@click.option("--list", "show", is_flag=True, help="List everything that does not pass.")
@click.option(
    "--expect",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A golden list to hold the outcomes against.",
)
@click.option("--accept", type=click.Path(path_type=Path), help="Write the outcomes as a golden list to this file.")
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
    accept: Path | None,
) -> None:
    """Run OpInfo samples through the backend and compare results and gradients with eager.

    A killed run goes on where it stopped. Exit status: 0 all pass (or are as --expect says), 1 not, 2 usage, 3 interrupted.
    """
    from bringup.target.registry import find_target
    from bringup_coverage.sweep import Settings, selected, sweep

    settings = Settings(tuple(dtypes.split(",")), only, samples, forward_only, optional_kernels, target)
    find_target(target)
    if expect is not None:
        refuse_others(expect, settings.to_dict())
    if not selected(settings):
        raise click.UsageError(f"--only {only!r} with --dtypes {dtypes!r} matches no OpInfo")
    try:
        rows = sweep(settings, journal, jobs=jobs, timeout=timeout, fresh=fresh)
    except KeyboardInterrupt:
        click.echo(f"interrupted; the same command goes on from {journal}", err=True)
        raise SystemExit(3) from None
    totals = totals_of(rows)
    if output is not None:
        whole = {"settings": settings.to_dict(), "totals": totals, "outcomes": rows}
        write_output(output, json.dumps(whole, indent=1))
    if accept is not None:
        write_output(accept, golden(settings.to_dict(), totals, rows))
    click.echo(json.dumps(totals, indent=1) if as_json else table(totals))
    if show:
        bad = [r for r in rows if r["status"] != "pass"]
        click.echo("\n".join(f"{r['case']:50} {r['status']:12} {one_line(r['detail'])}" for r in bad))
    if expect is not None:
        unexpected = list(differences(rows, expect))
        click.echo("\n".join(unexpected) or f"all as {expect} says")
        raise SystemExit(1 if unexpected else 0)
    raise SystemExit(0 if accept or all(r["status"] in ("pass", "untraceable") for r in rows) else 1)


def table(totals: dict[str, dict[str, Any]]) -> str:
    """The totals as a table."""
    from tabulate import tabulate

    rows = [[d, *(t[s] for s in STATUSES), t["traceable"], f"{t['share']:.1%}"] for d, t in totals.items()]
    return tabulate(rows, headers=["dtype", *STATUSES, "traceable", "pass / traceable"])
