"""The index on disk: one file per torch release, dtype and state of this package's source."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path

import platformdirs
import torch

from bringup_coverage.calls.plain import Plain
from bringup_coverage.calls.sources import Found


def cache_path(dtype: str, folder: Path | None = None) -> Path:
    """Where the index of a dtype is kept."""
    folder = folder or platformdirs.user_cache_path("bringup") / "calls"
    return folder / f"{torch.__version__}-{source_hash()}-{dtype}.pt"


@cache
def source_hash() -> str:
    """A hash of this package's source: another rule makes another index."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def save(found: dict[str, Found], path: Path) -> None:
    """Write an index; a reader sees the old file or the new one. A folder that cannot be written to is warned of."""
    rows: list[list[object]] = []
    blobs: list[bytes] = []
    start = 0
    for entry in found.values():
        calls = []
        for plain, source in entry.calls:
            lengths = [len(s) for s in plain.storages]
            calls.append([plain.text, source, start, lengths])
            blobs += plain.storages
            start += sum(lengths)
        rows.append([entry.overload, calls, entry.why])
    bytes_ = torch.frombuffer(bytearray(b"".join(blobs) or b"\0"), dtype=torch.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        os.close(handle)
        torch.save({"rows": json.dumps(rows), "bytes": bytes_}, temporary)
        Path(temporary).replace(path)
    except OSError as error:
        warnings.warn(f"the calls are not kept, and will be found anew: {error}", stacklevel=2)


def load(path: Path) -> dict[str, Found] | None:
    """Read an index; None where there is none, or it is damaged."""
    try:
        data = torch.load(path, weights_only=True)
        content = bytes(memoryview(data["bytes"].numpy()))
        return {row[0]: _entry(row, content) for row in json.loads(data["rows"])}
    except FileNotFoundError:
        return None
    except Exception:  # whatever a damaged file makes the reader say: it is made anew
        return None


def _entry(row: list[object], content: bytes) -> Found:
    overload, calls, why = row
    read = []
    for text, source, start, lengths in calls:  # type: ignore[attr-defined]
        storages = []
        for length in lengths:
            if start + length > len(content):
                raise ValueError("the file ends early")
            storages.append(content[start : start + length])
            start += length
        read.append((Plain(str(text), tuple(storages)), str(source)))
    return Found(str(overload), tuple(read), str(why))
