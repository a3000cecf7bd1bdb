"""``python -m bringup_coverage.calls``: what share of aten has calls."""

from __future__ import annotations

import json
import os

import click

from bringup_coverage.calls.build import build
from bringup_coverage.calls.index import index
from bringup_coverage.calls.share import share, text
from bringup_coverage.calls.shipped import SHIPPED_DTYPES, ship


@click.command()
@click.option("--dtype", default="float32", show_default=True, help="Which index.")
@click.option("--json", "as_json", is_flag=True, help="Print plain data.")
@click.option(
    "--ship", "remake", is_flag=True, help="Find all calls of every shipped dtype anew, and write the shipped files."
)
def main(dtype: str, as_json: bool, remake: bool) -> None:
    """Print how many overloads of aten have at least one call, by source, and those that have none."""
    if remake:
        _remake()
        return
    figures = share(index(dtype))
    click.echo(json.dumps(figures, indent=1) if as_json else text(figures))


def _remake() -> None:
    float32 = build(jobs=os.cpu_count() or 1)
    for dtype in SHIPPED_DTYPES:
        found = float32 if dtype == "float32" else build(dtype, float32=float32, jobs=os.cpu_count() or 1)
        path = ship(found, dtype)
        click.echo(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
