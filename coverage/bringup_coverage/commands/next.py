"""`bringup next`: which kernels to write next."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bringup.errors import nearest
from bringup_coverage.files import write_output

if TYPE_CHECKING:
    from bringup_coverage.ranking.check import Checked
    from bringup_coverage.ranking.rank import Ranking

SHOWN = 30
"""Rows of a table when --limit does not say."""

DTYPE = "float32"
"""Of the calls that are judged."""

EXAMPLES = """
\b
Examples:
  bringup next --target mychip.toml
  bringup next --target mychip.toml --model llama --format markdown
  bringup capture train.py --format json --output train.json && bringup next --target mychip.toml --usage train.json
"""


@click.command("next", epilog=EXAMPLES)
@click.option(
    "--target", default="sim", show_default=True, help="sim, package.module:object, or a TOML file.", metavar="SPEC"
)
@click.option(
    "--evidence",
    type=click.Choice(["traced", "declared"]),
    default="traced",
    show_default=True,
    help="What is missing by traces of calls, or by the tables alone, which do not look into decompositions.",
)
@click.option("--model", metavar="NAME", help="The set is for this shipped model, such as bert.  [default: for all]")
@click.option(
    "--models", "pattern", metavar="PATTERN", help="The set is for shipped models that match: all, or 'bert*'."
)
@click.option(
    "--usage",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Models from this file of `bringup capture` instead of the shipped ones.",
)
@click.option("--optional-kernels/--required-only", default=True, show_default=True, help="Use the optional kernels.")
@click.option("--format", "form", type=click.Choice(["table", "json", "markdown"]), default="table", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help=f"Rows at most.  [default: {SHOWN}; of json all]")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, not to the terminal."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60.0, show_default=True, help="Seconds for one overload."
)
@click.option("--fresh", is_flag=True, help="Forget what earlier scans found.")
def next_kernels(
    target: str,
    evidence: str,
    model: str | None,
    pattern: str | None,
    usage: Path | None,
    optional_kernels: bool,
    form: str,
    limit: int | None,
    output: Path | None,
    **how: Any,
) -> None:
    """Rank the kernels that a target lacks by what each would unlock: overloads, OpInfos, models.

    States the smallest set found that unlocks one model or all of them, and holds it against the verdict. Each overload that models,
    OpInfos and the portable tier have is judged by one float32 call of its own, those that run in a backward as well.

    Exit status: 0 done, 1 the verdict refuses a call in spite of the set, 2 usage, 3 interrupted.
    """
    used, wanted = _models(model, pattern, usage)
    try:
        ranking, checked, subject = _rank(target, evidence, optional_kernels, used, wanted, **how)
    except KeyboardInterrupt:
        click.echo("interrupted; the same command goes on where it stopped", err=True)
        raise SystemExit(3) from None
    text = _rendered(ranking, subject, form, limit, checked)
    if output is None:
        click.echo(text)
    else:
        write_output(output, text)
        click.echo(f"wrote {output}", err=True)
    raise SystemExit(1 if any(c.problem for c in checked) else 0)


def _models(model: str | None, pattern: str | None, usage: Path | None) -> tuple[dict[str, dict[str, int]], list[str]]:
    """The calls of all models, and the names of those that the set is for."""
    from bringup_coverage.usage import models
    from bringup_coverage.usage.shipped import read_usage

    given = [o for o, v in (("--model", model), ("--models", pattern), ("--usage", usage)) if v is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} do not go together: the set is for one or the other")
    if usage is not None:
        found = {name: {n: c.count for n, c in calls.items()} for name, calls in read_usage(usage).items()}
        return found, sorted(found)
    if model is not None:
        if model not in models():
            raise click.UsageError(f"no shipped model is called {model!r}{nearest(model, models())}")
        return models(), [model]
    wanted = sorted(n for n in models() if pattern in (None, "all") or fnmatchcase(n, str(pattern)))
    if not wanted:
        raise click.UsageError(f"--models {pattern!r} matches no shipped model")
    return models(), wanted


def _rank(
    target: str,
    evidence: str,
    optional_kernels: bool,
    used: Mapping[str, Mapping[str, int]],
    wanted: list[str],
    *,
    jobs: int,
    timeout: float,
    fresh: bool,
) -> tuple[Ranking, list[Checked], str]:
    from bringup.target.registry import find_target
    from bringup_coverage.ranking import Needs, rank
    from bringup_coverage.ranking.check import check
    from bringup_coverage.scan import Settings, scan
    from bringup_coverage.usage import opinfos

    names = {n for counts in used.values() for n in counts} | {n for called in opinfos().values() for n in called}
    settings = Settings(
        target, evidence, (DTYPE,), calls=1, gradient=False, dynamic=False, optional_kernels=optional_kernels
    )
    report = scan(
        settings, jobs=jobs, timeout=timeout, fresh=fresh, chosen=lambda o: o.tier == "portable" or o.name in names
    )
    found = find_target(target).with_options(optional_kernels=optional_kernels)
    ranking = rank(Needs.of(report, found.rows), used, opinfos(), wanted)
    checked: list[Checked] = []
    if evidence == "traced" and ranking.smallest:
        kernels, lacked = [r.overload for r in ranking.smallest], [n.overload for n in ranking.needs]
        checked = check(found, kernels, lacked, DTYPE, jobs=jobs, timeout=timeout)
    subject = f"{found.name} ({len(found.rows)} kernels), {evidence}, {DTYPE}, torch {report['torch']}"
    return ranking, checked, subject


def _rendered(ranking: Ranking, subject: str, form: str, limit: int | None, checked: list[Checked]) -> str:
    from bringup_coverage.ranking.text import covered, render, summary

    if form == "json":
        click.echo(f"{subject}: covered are {covered(ranking)}.\n{summary(ranking, checked)}", err=True)
        return json.dumps([row.to_dict() for row in ranking.rows[:limit]], indent=1)
    return render(ranking, subject, limit or SHOWN, checked, markdown=form == "markdown")
