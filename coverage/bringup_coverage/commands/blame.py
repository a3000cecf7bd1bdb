"""`bringup blame`: the history of one operator over all releases."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

EXAMPLES = """
\b
Examples:
  bringup blame aten::linear_backward
  bringup blame aten::qr --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("operator")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def blame(operator: str, form: str) -> None:
    """Say what every release of PyTorch did to OPERATOR: to one overload (aten::add.Tensor), or to all of one name (aten::add).

    Exit status: 0 done, 2 no release has such an operator.
    """
    from bringup.errors import OptionError, nearest
    from bringup_coverage.releases.plainly import plainly

    with plainly():
        from bringup_codegen.snapshots import history, load, overloads_named, releases

        shipped = [load(release) for release in releases()]
        names = overloads_named(operator, shipped)
        if not names:
            known = {f"aten::{n}" for s in shipped for n in s.operators}
            full = operator if "::" in operator else f"aten::{operator}"
            raise OptionError(
                f"no release from {shipped[0].torch} to {shipped[-1].torch} has {operator!r}{nearest(full, known)}"
            )
        events = [event for name in names for event in history(name, shipped)]
    if form == "json":
        click.echo(json.dumps([{**asdict(e), "overload": f"aten::{e.overload}"} for e in events], indent=1))
        return
    for name in names:
        click.echo(f"aten::{name}")
        for event in events:
            if event.overload == name:
                click.echo(
                    f"  {event.release:8} {'' if event.fact in ('added', 'removed') else event.fact + ' '}{event.text}"
                )
