"""A report as compact JSON for the page: columns instead of records, repeated texts once, names as row numbers.

`page/data.js` undoes it. 3,600 overloads take about a third of what the report takes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

LONGEST = 2000
DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
Rows = list[dict[str, Any]]


def pack(report: dict[str, Any], changes: dict[str, Rows] | None = None, source: str = "") -> dict[str, Any]:
    """What the page reads.

    Args:
        report: The coverage report.
        changes: The comparison with an earlier report, from `compare`.
        source: What the earlier report is called on the page.

    Returns:
        `columns`, where a column that says nothing about any overload is left out, `report` and `changes`.
    """
    rows: Rows = sorted(report["overloads"], key=_order)
    number = {row["name"]: place for place, row in enumerate(rows)}
    columns: dict[str, Any] = {"name": [row["name"] for row in rows], "schema": [_schema(row) for row in rows]}
    for key in ("namespace", "kind", "tier", "status", "reason", "composite", "detail"):
        columns[key] = _indexed(_clip(row.get(key)) for row in rows)
    for key in ("tags", "models"):
        columns[key] = _lists(row.get(key) for row in rows)
    for key in ("through", "variants"):
        columns[key] = [[number.get(name, _clip(name)) for name in row.get(key) or ()] for row in rows]
    columns |= _evidence(rows) | _places(rows)
    columns["verdicts"] = _dtypes(rows)
    head = {key: report.get(key) for key in ("torch", "target", "created") if report.get(key)}
    packed = {
        "report": head,
        "columns": {key: column for key, column in columns.items() if key == "name" or _says(column)},
    }
    return packed | ({"changes": changes, "earlier": source} if changes is not None else {})


def _order(row: dict[str, Any]) -> tuple[bool, str, bool, str]:
    """aten first, then the other namespaces; in each the public names before the private ones."""
    space, _, name = row["name"].partition("::")
    return space != "aten", space, name.startswith("_"), name


def embed(data: Any) -> str:
    """JSON that may stand inside a script element: nothing in it ends or opens an element or a comment.

    Halves of surrogate pairs, which no encoding of the page can hold, become question marks.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _clip(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + f" … ({len(value) - LONGEST:,} more characters in the report)"
    return value


def _schema(row: dict[str, Any]) -> str:
    """The schema without the name it starts with, which the page puts back."""
    schema = str(_clip(row.get("schema") or ""))
    return "=" + schema[len(row["name"]) :] if schema.startswith(row["name"]) else schema


def _indexed(values: Iterable[Any]) -> dict[str, list[Any]]:
    """Distinct values and the place of each row's value among them; -1 is none."""
    places: dict[Any, int] = {}
    index = [-1 if value in (None, "") else places.setdefault(value, len(places)) for value in values]
    return {"values": list(places), "index": index}


def _lists(lists: Iterable[Iterable[Any] | None]) -> dict[str, list[Any]]:
    places: dict[Any, int] = {}
    index = [[places.setdefault(value, len(places)) for value in values or ()] for values in lists]
    return {"values": list(places), "index": index}


def _finite(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _evidence(rows: Rows) -> dict[str, Any]:
    """Columns of the evidence."""
    found: list[dict[str, Any]] = [row.get("evidence") or {} for row in rows]

    def column(key: str, change: Callable[[Any], Any] = _finite) -> list[Any]:
        return [change(evidence.get(key)) for evidence in found]

    return {
        "level": _indexed(column("level")),
        "sampled": _lists(column("dtypes")),
        "samples": column("samples"),
        "dynamic": column("dynamic"),
        "gradient": column("gradient"),
        "worst_error": column("worst_error"),
    }


def _places(rows: Rows) -> dict[str, Any]:
    """Where decompositions are defined."""
    places: list[dict[str, Any]] = [row.get("decomposition") or {} for row in rows]
    return {key: _indexed(_clip(place.get(source)) for place in places) for key, source in _PLACE.items()}


_PLACE = {"where": "where", "function": "name"}


def _dtypes(rows: Rows) -> dict[str, list[str]]:
    """Verdicts per dtype: a letter (native, decomposed, x for none, blank for not stated) for each dtype in order."""
    found = {dtype for row in rows for dtype in row.get("dtypes") or ()}
    names = [*(dtype for dtype in DTYPES if dtype in found), *sorted(found - set(DTYPES))]
    letter = {"native": "n", "decomposed": "d", "none": "x"}
    index = ["".join(letter.get((row.get("dtypes") or {}).get(name, ""), " ") for name in names) for row in rows]
    return {"values": names, "index": index if names else []}


def _says(column: Any) -> bool:
    """Whether a column holds anything."""
    values = column["values"] if isinstance(column, dict) else column
    return any(value not in (None, "", []) for value in values)
