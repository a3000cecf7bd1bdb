"""Scans are kept: by torch, target, settings and the code that gathers the evidence. An unchanged scan answers at once."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import platformdirs

from bringup_coverage.files import write_at_once


def folder() -> Path:
    """Where scans are kept: ``BRINGUP_CACHE_DIR``, or the user's cache directory."""
    return Path(os.environ.get("BRINGUP_CACHE_DIR") or platformdirs.user_cache_dir("bringup"))


def code_key(target: str) -> str:
    """A digest of everything that a verdict depends on: both packages' sources, and the target's own file."""
    digest = hashlib.sha256()
    for package in ("bringup", "bringup_coverage"):
        root = _root(package)
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    for path in _files_of(target):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _root(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _files_of(target: str) -> list[Path]:
    """The files that a target specification names: a TOML file, or a module (its whole package); none where there is no such thing."""
    if target.endswith(".toml"):
        return [Path(target)] if Path(target).is_file() else []
    module, colon, _ = target.partition(":")
    if not colon:
        return []
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:  # of a package around it
        return []
    if spec is None or spec.origin is None:
        return []
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


def kept(path: Path) -> dict[str, Any] | None:
    """A report kept at `path`; None when there is none, or it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "overloads" in found else None


def keep(path: Path, report: dict[str, Any]) -> None:
    """Keep a report, in one step."""
    write_at_once(path, json.dumps(report, separators=(",", ":")))
