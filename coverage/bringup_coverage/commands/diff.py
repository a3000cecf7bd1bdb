"""`bringup diff`: what changed between two releases of PyTorch, and what that does to a target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bringup_coverage.files import write_output

if TYPE_CHECKING:
    from bringup_codegen.snapshots import Difference, Snapshot
    from bringup_coverage.releases.effect import Effect

EXAMPLES = """
\b
Examples:
  bringup diff 2.12.1 2.15.0
  bringup diff 2.13 2.14 --target mychip.toml --format markdown
  bringup diff 2.13.0 nightly/2.16.0.dev.txt --format html --output diff.html
"""


@click.command(epilog=EXAMPLES)
@click.argument("old", metavar="FROM")
@click.argument("new", metavar="TO")
@click.option("--target", metavar="SPEC", help="What it does to sim, package.module:object, or a TOML file of kernels.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "markdown", "html"]), default="table", show_default=True
)
@click.option(
    "--all", "every", is_flag=True, help="List every name in tables and Markdown, not the first few of a line."
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, not to the terminal."
)
def diff(old: str, new: str, target: str | None, form: str, every: bool, output: Path | None) -> None:
    """Say what changed in PyTorch's operators FROM one release TO another: a version that ships, or a snapshot file.

    With a target, also which of its kernels vanish or change schema, which declared verdicts change and why, which new operators it
    covers, and what there is to do. Torch is imported only then.

    Exit status: 0 done, 2 usage.
    """
    from bringup_coverage.releases.plainly import plainly

    with plainly():
        from bringup_codegen.snapshots import compare, load

        before, after = load(old), load(new)
        difference = compare(before, after)
        effect = _effect(target, before, after, difference) if target is not None else None
        text = render(difference, effect, form, every)
    if output is None:
        click.echo(text)
    else:
        write_output(output, text)
        click.echo(f"wrote {output}", err=True)


def _effect(target: str, before: Snapshot, after: Snapshot, difference: Difference) -> Effect:
    from bringup_coverage.releases.effect import effect
    from bringup_coverage.releases.tables import Tables

    return effect(Tables.of(target), before, after, difference)


def render(difference: Difference, effect: Effect | None, form: str, every: bool) -> str:
    """A difference in one of the formats."""
    from bringup_coverage.releases.data import to_data
    from bringup_coverage.releases.sections import headline, sections
    from bringup_coverage.releases.text import render_markdown, render_text

    if form == "json":
        return json.dumps(to_data(difference, effect), indent=1)
    found, first = sections(difference, effect), headline(difference)
    if form == "html":
        from bringup_coverage.releases.html import render_html

        return render_html(first, found)
    if form == "markdown":
        return render_markdown(first, found, every=every)
    return render_text(first, found, every=every)
