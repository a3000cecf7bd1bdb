"""`bringup coverage`: a verdict with evidence for every operator overload of the installed torch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bringup_coverage import reports
from bringup_coverage.commands.request import Request
from bringup_coverage.files import write_output
from bringup_coverage.gate import losses, read_report

FORMATS = ("table", "json", "markdown", "csv", "junit", "html", "badge")

SIDE_BY_SIDE = ("table", "html")
"""The formats that show two reports."""

EXAMPLES = """
\b
Examples:
  bringup coverage --target mychip.toml --evidence declared
  bringup coverage --evidence traced --format html --output coverage.html
  bringup coverage --backend inductor --only 'aten::*softmax*' --dtypes float32
  bringup coverage --dispatch-key MPS --tier portable
  bringup coverage --torch 2.8.0 --evidence declared --target mychip.toml
  bringup coverage --baseline coverage.json
  bringup coverage --compare a.json --compare b.json
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--target", help="sim, package.module:object, or a TOML file that lists kernels.  [default: sim]", metavar="SPEC"
)
@click.option(
    "--backend",
    metavar="NAME",
    help="Instead of a target: a torch.compile backend as a black box (package.module:object when it is not registered). "
    "Each call is compiled, run and compared with eager. Native: equal, without a PyTorch operator on the host, or "
    "through eager's own kernel (the detail says which). Decomposed: equal, through other operators on the host.",
)
@click.option(
    "--dispatch-key",
    metavar="KEY",
    help="Instead of a target: what PyTorch itself says of a key, such as PrivateUse1, MPS, XPU or CUDA: the dispatcher, "
    "and for keys that this build lacks the operator table of the release.",
)
@click.option(
    "--torch",
    metavar="VERSION",
    help="Of this release of PyTorch, from the snapshot that ships, instead of the installed one; by the tables alone.",
)
@click.option(
    "--evidence",
    type=click.Choice(["declared", "traced", "run"]),
    default=None,
    help="By the tables alone (a claim), by tracing calls to their kernels, or by running them against eager.  "
    "[default: traced; of a backend run, of a dispatch key declared]",
)
@click.option("--dtypes", default=None, help="Comma-separated dtypes; the first decides the verdict.")
@click.option("--forward-only", is_flag=True, help="Leave gradients and symbolic sizes out.")
@click.option("--optional-kernels/--required-only", default=True, show_default=True, help="Use the optional kernels.")
@click.option("--only", default="*", help="Shell pattern of overloads, such as 'aten::*softmax*'.")
@click.option("--tier", default=None, help="Only overloads of this tier, such as portable.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, not to the terminal."
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="An earlier JSON report: show what changed since. Given twice, compare the two files without a scan.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Fail on a verdict worse than here.",
)
@click.option("--strict", is_flag=True, help="With --baseline: fail on better verdicts that it does not record, too.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=None,
    help="Seconds for one overload.  [default: 60; of a backend 300]",
)
@click.option("--fresh", is_flag=True, help="Forget what earlier scans found.")
@click.pass_context
def coverage(
    context: click.Context,
    /,
    form: str,
    output: Path | None,
    compare: tuple[Path, ...],
    baseline: Path | None,
    strict: bool,
    **asked: Any,
) -> None:
    """Say for every operator overload whether a target runs it natively, by decomposition, or not at all, and how we know.

    An unchanged scan is read from the cache; a killed one goes on where it stopped.

    Exit status: 0 done, 1 verdicts that --baseline does not allow, 2 usage, 3 interrupted.
    """
    given = {name for name in asked if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    request = Request(**asked)
    request.check(given)
    if len(compare) > 2:
        raise click.UsageError("--compare takes one earlier report, or two to compare with each other")
    if compare and form not in SIDE_BY_SIDE:
        raise click.UsageError(f"--compare shows two reports as --format {' or '.join(SIDE_BY_SIDE)}, not {form}")
    if len(compare) == 2 and (given or baseline is not None):
        raise click.UsageError("--compare with two files scans nothing: leave the options of a scan out")
    earlier = read_report(compare[0]) if compare else None
    held_against = read_report(baseline) if baseline is not None else None
    found = read_report(compare[1]) if len(compare) == 2 else _scan(request)
    if earlier is not None and form == "table":
        _show(reports.render_comparison(earlier, found), output)
    else:
        _show(render(found, form, earlier, to_file=output is not None), output)
    if held_against is None:
        return
    lines = list(losses(held_against, found, strict=strict))
    click.echo("\n".join(lines) or f"no verdict is worse than in {baseline}", err=True)
    raise SystemExit(1 if lines else 0)


def _scan(request: Request) -> dict[str, Any]:
    try:
        return request.scan()
    except KeyboardInterrupt:
        click.echo("interrupted; the same command goes on where it stopped", err=True)
        raise SystemExit(3) from None


def render(found: dict[str, Any], form: str, earlier: dict[str, Any] | None = None, *, to_file: bool = False) -> str:
    """A report in one of the formats."""
    match form:
        case "json":
            return json.dumps(found, indent=1)
        case "html":
            return reports.render_html(found, earlier)
        case "markdown":
            return reports.render_markdown(found)
        case "csv":
            return reports.render_csv(found)
        case "junit":
            return reports.render_junit(found)
        case "badge":
            return reports.render_badge(found, "portable" if "portable" in found["tiers"] else None)
        case _:
            return reports.render_text(found, colour=False if to_file else None)


def _show(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        write_output(output, text)
        click.echo(f"wrote {output}", err=True)
