"""Which decompositions of a target nothing uses, which do harm, and which lose to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import torch

from bringup.target.registry import find_target
from bringup.target.target import Target
from bringup_coverage.calls.index import index
from bringup_coverage.catalogue import Kind, catalogue
from bringup_coverage.lint.findings import Finding, Seen, findings
from bringup_coverage.lint.text import render
from bringup_coverage.lint.watch import Task, Watched, watch
from bringup_coverage.places import place_of
from bringup_coverage.pool import run_isolated
from bringup_coverage.progress import progress

__all__ = ["Settings", "lint", "render"]

OTHER_DTYPES = ("bfloat16", "int64", "bool", "complex64")
NOT_DENSE = ("sparse", "nested", "quantized", "vendor")
"""Tiers that are not traced with gradients: there some crash PyTorch itself, and the rest are traced by their dense parts."""

_PER_WORKER = {False: 400, True: 100}
"""Overloads that a worker traces before it makes way for a fresh one, without and with gradients."""


@dataclass(frozen=True)
class Settings:
    """What is looked at.

    Attributes:
        target: a target, or its name as `bringup.target.registry.find_target` takes it.
        gradient: trace with gradients too, as long as entries are unused.
        only: shell pattern of the overloads whose calls are traced.
    """

    target: str | Target = "sim"
    gradient: bool = True
    only: str = "*"


def lint(settings: Settings, *, jobs: int = 1, timeout: float = 60.0) -> dict[str, Any]:
    """The findings as plain data: ``findings``, ``totals`` by kind, and the same by whose entry it is.

    Args:
        settings: what to look at.
        jobs: workers at a time.
        timeout: seconds that the traces of one overload may take.

    Raises:
        OptionError: there is no such target, or no operator matches.
    """
    target = find_target(settings.target).with_options(optional_kernels=False)
    calls = {
        dtype: index(dtype) for dtype in ("float32", *OTHER_DTYPES)
    }  # a worker may have no workers to look for calls
    names = [n for n, f in calls["float32"].items() if fnmatchcase(n, settings.only)]
    seen = Seen()
    with_calls = [n for n in names if calls["float32"][n].calls]
    _trace(target, seen, [Task(n, calls=_calls(n)) for n in with_calls], "forward", jobs, timeout)
    unused = set(seen.unused(target))
    _trace(target, seen, [Task(n, OTHER_DTYPES, 1) for n in names if n in unused], "other dtypes", jobs, timeout)
    if settings.gradient and seen.unused(target):
        tasks = [Task(n, calls=1, gradient=True) for n in with_calls if _has_gradients(n)]
        _trace(target, seen, tasks, "gradients", jobs, timeout)
    return _report(target, seen, settings)


def _calls(name: str) -> int:
    """How many calls of an overload are traced: what writes goes through its functional form, which is traced itself."""
    return 2 if catalogue().operators[name].kind is Kind.FUNCTIONAL else 1


def _has_gradients(name: str) -> bool:
    """Whether PyTorch has a formula for the gradients of an overload on dense tensors.

    Gradients of a composite operator are those of its parts, which are traced themselves.
    """
    operator = catalogue().operators[name]
    return operator.kind is Kind.FUNCTIONAL and "Autograd" in operator.keys and operator.tier not in NOT_DENSE


def _trace(target: Target, seen: Seen, tasks: list[Task], title: str, jobs: int, timeout: float) -> None:
    if not tasks:
        return
    watch(target, Task("aten::neg"))  # imports what every worker needs before they are forked
    work = partial(watch, target)
    gradient = tasks[0].gradient
    with progress(f"lint-decompositions ({title})", total=len(tasks)) as advance:
        for found in run_isolated(tasks, work, _lost, jobs=jobs, timeout=timeout, per_worker=_PER_WORKER[gradient]):
            seen.add(found)
            advance(found.name)


def _lost(task: Task, status: str, detail: str) -> Watched:
    return Watched(task.name, lost=f"{status}, {detail}")


def _report(target: Target, seen: Seen, settings: Settings) -> dict[str, Any]:
    rows = findings(target, seen)
    origins = [place_of(fn).origin for fn in target.decompositions.values()]
    return {
        "target": target.name,
        "torch": torch.__version__,
        "only": settings.only,
        "gradient": settings.gradient,
        "overloads": len(seen.traced),
        "calls": sum(seen.traced.values()),
        "untraceable": sum(seen.failed.values()),
        "lost": seen.lost,
        "entries": {origin: origins.count(origin) for origin in sorted(set(origins))},
        "used": len(target.decompositions) - len(seen.unused(target)),
        "totals": _totals(rows),
        "findings": rows,
    }


def _totals(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    kinds = [row["kind"] for row in rows]
    return {finding.value: kinds.count(finding.value) for finding in Finding}
