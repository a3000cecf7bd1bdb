"""The calls that come with the package, found once on the release that it is developed on: a scan need not look for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bringup.torch_internals import registered_names
from bringup_coverage.calls.cache import load, save
from bringup_coverage.calls.eager import run
from bringup_coverage.calls.plain import from_plain
from bringup_coverage.calls.schema import schema_text
from bringup_coverage.calls.sources import Found
from bringup_coverage.pool import run_isolated

FOLDER = Path(__file__).parent / "data"
SHIPPED_DTYPES = ("float32", "bfloat16", "int64", "bool", "complex64")
_BATCH = 40
_SECONDS = 60.0


def shipped_path(dtype: str) -> Path:
    """The shipped file of a dtype."""
    return FOLDER / f"{dtype}.xz"


def ship(found: dict[str, Found], dtype: str) -> Path:
    """Write an index as the shipped one of a dtype."""
    save(found, shipped_path(dtype), preset=9)
    return shipped_path(dtype)


def shipped(dtype: str) -> dict[str, Found]:
    """The shipped entries of overloads that this torch has with the same schema."""
    entries = load(shipped_path(dtype)) or {}
    names = set(registered_names("aten"))
    return {n: f for n, f in entries.items() if n in names and f.schema == schema_text(n)}


def still_accepted(found: dict[str, Found], jobs: int) -> dict[str, Found]:
    """The entries with the calls that eager accepts in this release too; those that keep none are left out."""
    names = [n for n, f in found.items() if f.calls]
    batches = [tuple(names[i : i + _BATCH]) for i in range(0, len(names), _BATCH)]
    kept: dict[str, Found] = {}
    check = partial(_accepted, found)
    for entries in run_isolated(batches, check, lambda *_: [], jobs=jobs, timeout=_SECONDS):
        kept |= {e.overload: e for e in entries if e.calls}
    return {n: kept[n] for n in found if n in kept}


def _accepted(found: dict[str, Found], names: tuple[str, ...]) -> list[Found]:
    checked = []
    for name in names:
        entry = found[name]
        calls = tuple((p, s) for p, s in entry.calls if run(name, *from_plain(p)).accepted)
        checked.append(Found(name, calls, entry.why, entry.schema))
    return checked
