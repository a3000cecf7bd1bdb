"""Measured times of devices, as CSV files hold them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from bringup.errors import OptionError

COLUMNS = ("device", "n_devices", "workload", "shapes", "dtype", "metric", "value", "unit", "source")
_EAGER_SOURCES = (
    "PrincetonUniversity/LLMCompass",
)  # timed call by call; all others replay graphs or loop on the device


@dataclass(frozen=True)
class Measurement:
    """One row: what was run on which device, and the value that was read, in `unit`."""

    device: str
    n_devices: int
    workload: str
    shapes: str
    dtype: str
    metric: str
    value: float
    unit: str
    source: str

    @property
    def sizes(self) -> dict[str, str]:
        """The `key=value` parts of `shapes`."""
        return dict(part.split("=", 1) for part in self.shapes.split(";") if "=" in part)

    @property
    def flow(self) -> str:
        """How it was launched: each way has a fixed cost of its own."""
        return "eager" if any(s in self.source for s in _EAGER_SOURCES) else "graph"


def read_measurements(path: Path) -> list[Measurement]:
    """The rows of a CSV file.

    Raises:
        OptionError: it cannot be read, lacks a column, or a number in it is none; with file and line.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            missing = [c for c in COLUMNS if c not in (reader.fieldnames or ())]
            if missing:
                raise OptionError(f"{path}:1: no column {', '.join(missing)}; it takes {','.join(COLUMNS)}")
            return [_row(row, f"{path}:{reader.line_num}") for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"measurements {str(path)!r} cannot be read: {error}") from error


def _row(row: dict[str, str | None], where: str) -> Measurement:
    texts = {c: (row[c] or "").strip() for c in COLUMNS}
    try:
        n_devices = int(texts.pop("n_devices"))
        value = float(texts.pop("value"))
    except ValueError as error:
        raise OptionError(f"{where}: n_devices and value take numbers: {error}") from error
    if n_devices < 1 or not 0 < value < float("inf"):
        raise OptionError(f"{where}: n_devices is {n_devices} and value is {value}; both are above 0 and finite")
    return Measurement(n_devices=n_devices, value=value, **texts)
