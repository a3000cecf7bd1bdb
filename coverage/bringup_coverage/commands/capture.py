"""`bringup capture`: which operators a program calls."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bringup_coverage.files import write_output
from bringup_coverage.usage.shipped import SCHEMA_VERSION
from bringup_coverage.usage.usage import Usage, from_plain, to_plain

if TYPE_CHECKING:
    from bringup_coverage.usage.program import Captured

EXAMPLES = """
\b
Examples:
  bringup capture train.py --epochs 1
  bringup capture --format json --output train.json train.py --epochs 1
  bringup capture --call package.module:function
  bringup capture --models 'bert*' --format json
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@click.option("--call", metavar="MODULE:FUNCTION", help="Instead of a script: a function, called without arguments.")
@click.option(
    "--models", "pattern", metavar="PATTERN", help="Instead of a script: transformers architectures that match."
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, not to the terminal."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Architectures at a time.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=300.0, show_default=True, help="Seconds for one architecture."
)
@click.argument("script", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def capture(
    call: str | None,
    pattern: str | None,
    form: str,
    output: Path | None,
    jobs: int,
    timeout: float,
    script: Path | None,
    arguments: tuple[str, ...],
) -> None:
    """Record the operators that SCRIPT calls, with exact counts, forward and backward, dtypes and shapes.

    Our options come before SCRIPT, what comes after it is the script's. The operators are those that reach the dispatcher below
    autograd in the script's own thread and in its backwards; what it starts in other threads and processes is not seen. As JSON on the
    terminal, the script's own output goes to stderr.

    Exit status: the script's own; 1 when it raises, or when nothing was captured, 2 usage, 3 interrupted.
    """
    given = [name for name, v in (("SCRIPT", script), ("--call", call), ("--models", pattern)) if v is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} do not go together" if given else "there is nothing to capture"
        raise click.UsageError(f"{found}: give a script, --call or --models")
    if pattern is not None:
        usages, status = _architectures(pattern, jobs, timeout)
    else:
        quiet = (
            contextlib.redirect_stdout(sys.stderr) if form == "json" and output is None else contextlib.nullcontext()
        )
        with quiet:
            captured = _program(script, arguments, call)
        usages, status = {captured.name: captured.usage}, captured.status
        if captured.ended:
            counted = sum(c.count for c in captured.usage.values())
            click.echo(f"{captured.name} {captured.ended}; shown are the {counted:,} calls that it had made", err=True)
    text = json.dumps(plain(usages), indent=1) if form == "json" else table(usages)
    if output is None:
        click.echo(text)
    else:
        write_output(output, text)
        click.echo(f"wrote {output}", err=True)
    if not any(usages.values()):
        click.echo("no operator was called", err=True)
        status = status or 1
    raise SystemExit(status)


def _program(script: Path | None, arguments: tuple[str, ...], call: str | None) -> Captured:
    from bringup_coverage.usage.program import capture_call, capture_script

    return capture_script(script, arguments) if script is not None else capture_call(str(call))


def _architectures(pattern: str, jobs: int, timeout: float) -> tuple[dict[str, Usage], int]:
    from bringup_coverage.model_sweep import selected
    from bringup_coverage.progress import progress
    from bringup_coverage.usage.record_models import record_models

    wanted = selected("*" if pattern == "all" else pattern)
    if not wanted:
        raise click.UsageError(f"--models {pattern!r} matches no model type and no kind")
    usages: dict[str, Usage] = {}
    status = 0
    try:
        with progress("models", total=len(wanted)) as advance:
            for row in record_models(wanted, jobs=jobs, timeout=timeout):
                advance(row.name)
                usages[row.name] = from_plain(row.usage)
                if row.error:
                    status = 1
                    click.echo(f"{row.name} was not recorded: {row.error.splitlines()[0]}", err=True)
    except KeyboardInterrupt:
        click.echo(f"interrupted; shown are the {len(usages)} of {len(wanted)} models that were recorded", err=True)
        status = 3
    return {name: usages[name] for name in sorted(usages)}, status


def plain(usages: Mapping[str, Usage]) -> dict[str, Any]:
    """Usages by name as plain data, the form that `bringup next --usage` reads."""
    import torch

    release = torch.__version__.partition("+")[0]
    return {"schema_version": SCHEMA_VERSION, "torch": release, "models": {n: to_plain(u) for n, u in usages.items()}}


def table(usages: Mapping[str, Usage]) -> str:
    """One usage by overload, the most called first; several by name."""
    from tabulate import tabulate

    if len(usages) != 1:
        rows: list[Any] = [[n, len(u), *_totals(u)] for n, u in usages.items()]
        return tabulate(rows, headers=["model", "overloads", "forward", "backward"], intfmt=",")
    ((name, usage),) = usages.items()
    ranked = sorted(usage.items(), key=lambda item: (-item[1].count, item[0]))
    rows = [[n, c.forward, c.backward, ", ".join(sorted(filter(None, c.dtypes))), _shapes(c.shapes)] for n, c in ranked]
    forward, backward = _totals(usage)
    shown = tabulate(rows, headers=["overload", "forward", "backward", "dtypes", "most frequent shapes"], intfmt=",")
    return f"{shown}\n\n{name}: {len(usage)} overloads, {forward:,} calls forward, {backward:,} backward"


def _totals(usage: Usage) -> tuple[int, int]:
    return sum(c.forward for c in usage.values()), sum(c.backward for c in usage.values())


def _shapes(shapes: Mapping[str, int]) -> str:
    """The most frequent pattern, cut to a width that a terminal has."""
    most = max(shapes, key=shapes.__getitem__, default="")
    return most if len(most) <= 50 else most[:49] + "…"
