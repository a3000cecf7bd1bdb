"""`bringup lint-decompositions`: entries of a target's table that nothing uses, that do harm, or that lose to another."""

from __future__ import annotations

import json
import os

import click

EXAMPLES = """
\b
Examples:
  bringup lint-decompositions
  bringup lint-decompositions --target mychip.toml --strict
  bringup lint-decompositions --target mypackage.chip:target --forward-only --format json
"""


@click.command(epilog=EXAMPLES)
@click.option("--target", default="sim", show_default=True, help="sim, package.module:object, or a TOML file.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--strict", is_flag=True, help="Exit with status 1 when an entry does harm.")
@click.option("--forward-only", is_flag=True, help="Do not look for unused entries in traces with gradients.")
@click.option("--only", default="*", help="Shell pattern of the overloads whose calls are traced; all are by default.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60.0, show_default=True, help="Seconds for one overload."
)
def lint_decompositions(
    target: str, form: str, strict: bool, forward_only: bool, only: str, jobs: int, timeout: float
) -> None:
    """Trace the recorded calls of every overload and name the decompositions that are dead, harmful or shadowed.

    \b
    dead      no trace of any call uses it
    harmful   a call ends in a missing kernel that another way, or its own kernel, would have run
    shadowed  the operator's kernel takes every call before it; or a user's entry that wins over bringup's (overriding)
    unseen    no call of the operator is recorded, and no trace came by: nothing can be said

    The optional kernels are off, so that what they replace is used.

    Exit status: 0 done, 1 something is harmful and --strict is given, 2 usage, 3 interrupted.
    """
    from bringup_coverage.lint import Settings, lint, render

    settings = Settings(target, gradient=not forward_only, only=only)
    try:
        found = lint(settings, jobs=jobs, timeout=timeout)
    except KeyboardInterrupt:
        click.echo("interrupted; nothing is kept, the same command starts anew", err=True)
        raise SystemExit(3) from None
    click.echo(json.dumps(found, indent=1) if form == "json" else render(found))
    raise SystemExit(1 if strict and found["totals"]["harmful"] else 0)
