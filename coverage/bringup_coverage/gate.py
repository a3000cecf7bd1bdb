"""The gate for CI: a report held against a baseline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bringup.errors import OptionError
from bringup_coverage.reports import compare

ROW = ("name", "namespace", "packet", "tier", "status", "reason", "detail", "evidence", "dtypes")
"""What every format looks at in a row."""


def read_report(path: Path) -> dict[str, Any]:
    """A coverage report that was written as JSON.

    Raises:
        OptionError: the file holds none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} is no coverage report: {error}") from error
    if not isinstance(found, dict) or found.get("schema_version") != 1 or not isinstance(found.get("overloads"), list):
        raise OptionError(
            f"{path} is no coverage report of schema version 1; write one with `bringup coverage --format json --output {path}`"
        )
    for number, row in enumerate(found["overloads"]):
        lacking = [k for k in ROW if k not in row] if isinstance(row, dict) else list(ROW)
        if lacking:
            raise OptionError(
                f"{path} is no coverage report: its overload {number} has no {lacking[0]!r}; write it anew"
            )
    return found


def losses(baseline: dict[str, Any], found: dict[str, Any], *, strict: bool = False) -> Iterator[str]:
    """A line for every verdict that is worse than the baseline's; with `strict`, for every better one too.

    An overload that the baseline has and the scan has not is a loss unless another torch release or only a selection was scanned; one that
    the baseline lacks is none.
    """
    changes = compare(baseline, found)
    lists = [("worse", changes["worse"])] + ([("better, and not in the baseline", changes["better"])] if strict else [])
    for label, rows in lists:
        for row in rows:
            why = "; ".join(row["what"])
            yield f"{row['name']}: {label}: {row['before']} -> {row['after']}{f' ({why})' if why else ''}"
    if baseline.get("torch") == found.get("torch") and found.get("complete", True):
        for row in changes["removed"]:
            yield f"{row['name']}: in the baseline, not in this scan"
