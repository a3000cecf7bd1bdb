"""The index on disk: one compressed file per torch release, dtype and state of this package's source; or one that is shipped."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
import torch

from bringup_coverage.calls.plain import Plain
from bringup_coverage.calls.schema import schema_text
from bringup_coverage.calls.sources import Found

PRESET = 3
"""Of lzma: the shipped file is made with more."""


def cache_path(dtype: str, folder: Path | None = None) -> Path:
    """Where the index of a dtype is kept."""
    folder = folder or platformdirs.user_cache_path("bringup") / "calls"
    return folder / f"{torch.__version__}-{source_hash()}-{dtype}.xz"


@cache
def source_hash() -> str:
    """A hash of this package's source: another rule makes another index."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def save(found: dict[str, Found], path: Path, *, preset: int = PRESET) -> None:
    """Write an index; a reader sees the old file or the new one. A folder that cannot be written to is warned of."""
    data = _packed(found)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        os.close(handle)
        Path(temporary).write_bytes(lzma.compress(data, preset=preset))
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        warnings.warn(f"the calls are not kept, and will be found anew: {error}", stacklevel=2)


def load(path: Path) -> dict[str, Found] | None:
    """Read an index; None where there is none, or it is damaged."""
    try:
        header, _, content = lzma.decompress(path.read_bytes()).partition(b"\n")
        return {row[0]: _entry(row, content) for row in json.loads(header)["rows"]}
    except (OSError, lzma.LZMAError, ValueError, KeyError, TypeError, IndexError):  # no file, or a damaged one
        return None


def _packed(found: dict[str, Found]) -> bytes:
    """One line of JSON, then the bytes of all storages, each content once."""
    places: dict[bytes, int] = {}
    blobs: list[bytes] = []
    end = 0
    rows: list[list[Any]] = []
    for entry in found.values():
        calls = []
        for plain, source in entry.calls:
            spans = []
            for storage in plain.storages:
                if storage not in places:
                    places[storage] = end
                    blobs.append(storage)
                    end += len(storage)
                spans.append([places[storage], len(storage)])
            calls.append([plain.text, source, spans])
        rows.append([entry.overload, calls, entry.why, schema_text(entry.overload)])
    return json.dumps({"rows": rows}, separators=(",", ":")).encode() + b"\n" + b"".join(blobs)


def _entry(row: list[Any], content: bytes) -> Found:
    overload, calls, why, schema = row
    read = []
    for text, source, spans in calls:
        if any(start + length > len(content) for start, length in spans):
            raise ValueError("the file ends early")
        read.append((Plain(text, tuple(content[start : start + length] for start, length in spans)), source))
    return Found(overload, tuple(read), why, schema)
