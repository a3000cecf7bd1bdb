"""The usage that comes with the package, as compressed JSON, and that of a file that `bringup capture` wrote."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from bringup.errors import OptionError
from bringup_coverage.usage.usage import Usage, from_plain

FOLDER = Path(__file__).parent / "data"
SCHEMA_VERSION = 1


@cache
def shipped(what: str) -> dict[str, Any]:
    """The shipped file of ``models`` or ``opinfos``: its torch release, and plain usages by name under that key."""
    return json.loads(lzma.decompress((FOLDER / f"{what}.json.xz").read_bytes()))


def ship(what: str, data: dict[str, Any]) -> Path:
    """Write a shipped file in one step."""
    path = FOLDER / f"{what}.json.xz"
    text = json.dumps(data | {"schema_version": SCHEMA_VERSION}, sort_keys=True, separators=(",", ":"))
    temporary = path.with_suffix(".tmp")
    FOLDER.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    temporary.replace(path)
    return path


def read_usage(path: Path) -> dict[str, Usage]:
    """The usages by name of a file that ``bringup capture --format json`` wrote.

    Raises:
        OptionError: it holds none.
    """
    hint = f"write one with `bringup capture SCRIPT --format json --output {path}`"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} is no captured usage ({error}); {hint}") from error
    if (
        not isinstance(data, dict)
        or data.get("schema_version") != SCHEMA_VERSION
        or not isinstance(data.get("models"), dict)
    ):
        raise OptionError(f"{path} is no captured usage of schema version {SCHEMA_VERSION}; {hint}")
    try:
        return {name: from_plain(usage) for name, usage in data["models"].items()}
    except (TypeError, AttributeError) as error:
        raise OptionError(f"{path} is a damaged usage: {error}") from error
