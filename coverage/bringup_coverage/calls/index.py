"""What others ask: the calls of an overload in a dtype, or why there are none."""

from __future__ import annotations

import os
from functools import cache

import torch

from bringup.errors import OptionError
from bringup.torch_internals import registered_names
from bringup_coverage.calls.build import build
from bringup_coverage.calls.cache import cache_path, load, save
from bringup_coverage.calls.plain import from_plain
from bringup_coverage.calls.recipe import Recipe
from bringup_coverage.calls.shipped import shipped, still_accepted
from bringup_coverage.calls.sources import Found


def recipes(overload_name: str, dtype: str = "float32", limit: int = 4) -> list[Recipe]:
    """Calls of an overload that eager accepts on the CPU, the best first; the same ones at every call.

    Args:
        overload_name: the dispatcher's spelling, such as ``aten::add.Tensor``.
        dtype: of the tensors; indices, masks and the like keep theirs. In ``float32`` an overload that takes no
            floating tensor has calls with what it takes.
        limit: at most so many.

    Raises:
        OptionError: torch has no such dtype.
        KeyError: this torch has no such overload of aten.
    """
    return from_found(_entry(overload_name, dtype), dtype)[:limit]


def why_none(overload_name: str, dtype: str = "float32") -> str:
    """One sentence: why an overload has no calls, or that it has some."""
    entry = _entry(overload_name, dtype)
    return entry.why or f"It has {len(entry.calls)} calls."


def from_found(entry: Found, dtype: str) -> list[Recipe]:
    """The recipes of an entry of the index."""
    return [Recipe(entry.overload, *from_plain(plain), dtype, source) for plain, source in entry.calls]


@cache
def index(dtype: str = "float32") -> dict[str, Found]:
    """The entries of every overload of aten: those that are shipped, and what this release has beside them.

    What is not shipped is found now, which may take some minutes, and kept in the user's cache.

    Raises:
        OptionError: torch has no such dtype.
    """
    if not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise OptionError(f"unknown dtype {dtype!r}; write it as torch does, such as bfloat16")
    known = shipped(dtype)
    missing = [n for n in registered_names("aten") if n not in known]
    if not missing:
        return known
    path = cache_path(dtype)
    found = load(path)
    if found is None:
        found = _beside(known, dtype)
        save(found, path)
    return found


def _beside(known: dict[str, Found], dtype: str) -> dict[str, Found]:
    """The whole index of a release that the shipped one is not of: calls that eager still accepts, and the rest found anew."""
    jobs = _jobs()
    kept = still_accepted(known, jobs)
    names = registered_names("aten")
    float32 = None if dtype == "float32" else index("float32")
    rest = build(
        dtype, names=[n for n in names if n not in kept] if kept else None, known=kept, float32=float32, jobs=jobs
    )
    return {n: kept.get(n) or rest[n] for n in names}


def _jobs() -> int:
    """Workers at a time: one a core that this process may use, at most 8."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)


def _entry(name: str, dtype: str) -> Found:
    entries = index(dtype)
    if name not in entries:
        raise KeyError(f"this torch ({torch.__version__}) has no operator {name!r} with a kernel in aten")
    return entries[name]
