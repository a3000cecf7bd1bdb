"""The journal of a long run: one JSON line per finished case, so that a killed run goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bringup.errors import OptionError
from bringup_coverage.files import write_at_once


class Journal:
    """An append-only file of outcomes. The first line is the run's identity; another identity starts the file anew.

    Raises:
        OptionError: the file cannot be read or written, or is something else than a journal.
    """

    def __init__(self, path: Path, identity: dict[str, Any], *, fresh: bool = False) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        try:
            parsed = _read(path)
            if parsed and parsed[0] == identity and not fresh:
                self.rows = {row["case"]: row for row in parsed[1:]}
            write_at_once(path, "".join(json.dumps(row) + "\n" for row in [identity, *self.rows.values()]))
        except OSError as error:
            raise OptionError(f"the journal {path} cannot be written: {error.strerror}") from error

    def add(self, row: dict[str, Any]) -> None:
        """Append one outcome; it is on disk when this returns."""
        self.rows[row["case"]] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal, but those that a kill cut short."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines() if path.exists() else []
    parsed = [row for row in map(_parse, lines) if row is not None]
    if lines and (not parsed or any("case" not in row for row in parsed[1:])):
        raise OptionError(f"{path} is no journal, and is left as it is: give another path, or remove it")
    return parsed


def _parse(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:  # the line that a kill cut short
        return None
    return row if isinstance(row, dict) else None
