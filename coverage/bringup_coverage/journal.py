"""The journal of a long run: one JSON line per finished case, so that a killed run goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Journal:
    """An append-only file of outcomes. The first line is the run's identity; another identity starts the file anew."""

    def __init__(self, path: Path, identity: dict[str, Any], *, fresh: bool = False) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() and not fresh else []
        parsed = [row for row in map(_parse, lines) if row is not None]
        if parsed and parsed[0] == identity:
            self.rows = {row["case"]: row for row in parsed[1:]}
        write_at_once(path, "".join(json.dumps(row) + "\n" for row in [identity, *self.rows.values()]))

    def add(self, row: dict[str, Any]) -> None:
        """Append one outcome; it is on disk when this returns."""
        self.rows[row["case"]] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def write_at_once(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(path.suffix + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _parse(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:  # the line that a kill cut short
        return None
    return row if isinstance(row, dict) else None
