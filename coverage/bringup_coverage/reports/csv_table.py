"""A report as CSV: one line per overload, for a spreadsheet or a data frame."""

from __future__ import annotations

import csv
import io
from typing import Any

COLUMNS: tuple[str, ...] = (
    "name",
    "namespace",
    "packet",
    "kind",
    "tier",
    "tags",
    "composite",
    "status",
    "reason",
    "detail",
    "through",
    "decomposition",
    "evidence",
    "samples",
    "dynamic",
    "gradient",
    "worst_error",
    "dtypes",
    "models",
    "variants",
    "schema",
)


def render_csv(report: dict[str, Any]) -> str:
    """The overloads, a header first; lists are separated by blanks, dtypes are `float32=native`, unknown is empty."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(_record(row) for row in report["overloads"])
    return out.getvalue()


def _record(row: dict[str, Any]) -> dict[str, str]:
    evidence = row.get("evidence") or {}
    values = {
        **row,
        **evidence,
        "evidence": evidence.get("level"),
        "decomposition": (row.get("decomposition") or {}).get("where"),
        "dtypes": [f"{dtype}={status}" for dtype, status in (row.get("dtypes") or {}).items()],
    }
    return {column: _cell(values.get(column)) for column in COLUMNS}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
