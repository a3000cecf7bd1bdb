"""`bringup kernels`: the target's kernel table."""

from __future__ import annotations

import json

import click


@click.command(epilog="Example: bringup kernels --format json --required-only")
@click.option(
    "--target", default="sim", show_default=True, help="The target: sim, package.module:object, or a TOML file."
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--required-only", is_flag=True, help="Leave the optional kernels out.")
def kernels(target: str, format_: str, as_json: bool, required_only: bool) -> None:
    """Print the kernels of a target: overload, engine, dtypes, required or optional."""
    from bringup.target import find_target

    rows = [k.row() for k in find_target(target).kernels if k.required or not required_only]
    rows.sort(key=lambda row: (not row["required"], row["overload"]))
    if as_json or format_ == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    from tabulate import tabulate

    shown = [[r["overload"], r["engine"], "yes" if r["required"] else "", " ".join(r["dtypes"])] for r in rows]
    click.echo(
        tabulate(shown, headers=["overload", "engine", "required", "dtypes"], maxcolwidths=[None, None, None, 70])
    )
    required = sum(r["required"] for r in rows)
    click.echo(f"\n{required} required, {len(rows) - required} optional")
