"""`bringup validate`: measured times beside what the cost models predict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click


@click.command(epilog="Example: bringup validate measured.csv --format json")
@click.argument("measurements", type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def validate(measurements: Path, format_: str, as_json: bool) -> None:
    """Predict each row of a CSV file of MEASUREMENTS; print errors by device, workload and dtype.

    Rows that the constants were fitted to are among them if the file holds them: those errors are the fit's, not a forecast's.
    """
    from bringup.device.measurements import read_measurements
    from bringup.device.validation import fitted_constants, predict, report

    found = report(predict(row, fitted_constants()) for row in read_measurements(measurements))
    if as_json or format_ == "json":
        click.echo(json.dumps(found, indent=1))
        return
    from tabulate import tabulate

    cells = [[e["device"], e["workload"], e["dtype"], e["rows"], e["mape_percent"]] for e in found["errors"]]
    click.echo(tabulate(cells, headers=["device", "workload", "dtype", "rows", "error %"], floatfmt=".1f"))
    click.echo(f"\n{found['modelled']} rows predicted, {found['unmodelled']} not:")
    reasons = Counter(r["reason"] for r in found["rows"] if r["reason"])
    click.echo(tabulate([[n, reason] for reason, n in reasons.most_common()], tablefmt="plain"))
