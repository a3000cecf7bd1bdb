"""``python -m bringup_coverage.calls``: what share of aten has calls."""

from __future__ import annotations

import json

import click

from bringup_coverage.calls.index import index
from bringup_coverage.calls.share import share, text


@click.command()
@click.option("--dtype", default="float32", show_default=True, help="Which index.")
@click.option("--json", "as_json", is_flag=True, help="Print plain data.")
def main(dtype: str, as_json: bool) -> None:
    """Print how many overloads of aten have at least one call, by source, and those that have none."""
    figures = share(index(dtype))
    click.echo(json.dumps(figures, indent=1) if as_json else text(figures))


if __name__ == "__main__":
    main()
