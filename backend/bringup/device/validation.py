"""Predictions of measured rows by fitted constants, and their errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bringup.device.costs import BYTES, Collective, Work
from bringup.device.measurements import Measurement
from bringup.device.profile import Profile, profile_measured_as
from bringup.device.works import Unmodelled, class_of, value_of, work_of

Constants = Mapping[str, Mapping[str, float]]
_FILE = Path(__file__).parent / "constants.json"


@dataclass(frozen=True)
class Prediction:
    """A row with its prediction in the row's unit, or the reason why there is none."""

    row: Measurement
    predicted: float | None
    reason: str | None = None

    @property
    def error(self) -> float | None:
        """Relative to the measured value, without sign."""
        return None if self.predicted is None else abs(self.predicted / self.row.value - 1)


@cache
def fitted_constants() -> Constants:
    """By group; `benchmarks/fit_devices.py` writes them."""
    data: Constants = json.loads(_FILE.read_text(encoding="utf-8"))["groups"]
    return data


def group_of(row: Measurement) -> str:
    """Rows of one group share constants: class, device, dtype (not of collectives, which move bytes) and launch flow."""
    kind = class_of(row)
    return f"{kind} {row.device} {'any' if kind == 'collective' else row.dtype} {row.flow}"


def model_of(row: Measurement) -> tuple[Work, Profile]:
    """What a row ran, and on what.

    Raises:
        Unmodelled: there is no profile, no peak for the dtype, or no model for the work.
    """
    work = work_of(row)
    chip = profile_measured_as(row.device)
    if chip is None:
        raise Unmodelled(f"no profile of device {row.device!r}")
    if not isinstance(work, Collective) and (row.dtype not in chip.peak_flops or row.dtype not in BYTES):
        raise Unmodelled(f"profile {chip.name!r} has no peak for dtype {row.dtype!r}")
    return work, chip


def predict(row: Measurement, constants: Constants) -> Prediction:
    """The row's value by its group's constants."""
    try:
        work, chip = model_of(row)
        group = group_of(row)
        if group not in constants:
            raise Unmodelled(f"no constants were fitted for {group!r}")
        return Prediction(row, value_of(row, work, work.seconds(chip, constants[group])))
    except Unmodelled as why:
        return Prediction(row, None, str(why))


def report(predictions: Iterable[Prediction]) -> dict[str, Any]:
    """Errors by device, workload and dtype, counts, and every row."""
    every = list(predictions)
    cells: dict[tuple[str, str, str], list[float]] = {}
    for p in every:
        if p.error is not None:
            cells.setdefault((p.row.device, p.row.workload, p.row.dtype), []).append(p.error)
    errors = [
        {"device": d, "workload": w, "dtype": t, "rows": len(e), "mape_percent": 100 * sum(e) / len(e)}
        for (d, w, t), e in sorted(cells.items())
    ]
    rows = [{**asdict(p.row), "predicted": p.predicted, "reason": p.reason} for p in every]
    unmodelled = sum(p.predicted is None for p in every)
    return {"modelled": len(every) - unmodelled, "unmodelled": unmodelled, "errors": errors, "rows": rows}
