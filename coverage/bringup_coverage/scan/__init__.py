"""The scan: a verdict with evidence for every overload of the catalogue."""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from bringup.errors import OptionError
from bringup.target.call import Call
from bringup.target.registry import find_target
from bringup_coverage.calls.index import index
from bringup_coverage.catalogue import Catalogue, Operator, catalogue
from bringup_coverage.journal import Journal
from bringup_coverage.pool import run_isolated
from bringup_coverage.progress import progress
from bringup_coverage.scan.cache import code_key, folder, keep, kept
from bringup_coverage.scan.declared import Declared
from bringup_coverage.scan.examine import Settings, examine, summary
from bringup_coverage.scan.report import report, share_symbolic_sizes

__all__ = ["Settings", "checked_dtypes", "scan"]

WITHOUT_CALLS = ("vendor", "device", "collective", "internal", "testing", "quantized", "sparse", "nested", "prims")
"""Tiers whose overloads are judged by the tables alone: on the host there is no dense call of them, or nothing to compare with."""

INTERNAL = "internal-error"

PER_WORKER = {"traced": 700, "run": 40}
"""Overloads that a worker examines before it makes way for a fresh one: torch never frees what was compiled."""


def scan(
    settings: Settings,
    *,
    jobs: int = 1,
    timeout: float = 60.0,
    fresh: bool = False,
    chosen: Callable[[Operator], bool] | None = None,
) -> dict[str, Any]:
    """The report of a scan; one that was made before is read, one that was cut short goes on.

    Args:
        settings: target, level, dtypes.
        jobs: workers at a time.
        timeout: seconds that one overload may take.
        fresh: forget what earlier scans found.
        chosen: which operators to list; None is all.
    """
    if settings.level == "declared":
        wanted, declared = _what_is_asked(settings, chosen)
        return report(settings.target, settings.level, wanted, declared, {}) | {"complete": chosen is None}
    name, identity = _identity(settings)
    whole, complete = folder() / f"scan-{name}.json", chosen is None
    if complete and not fresh and (found := kept(whole)) is not None and not _cut_short(found, timeout):
        return found
    wanted, declared = _what_is_asked(settings, chosen)
    journal = Journal(folder() / f"scan-{name}.jsonl", identity, fresh=fresh)
    _examine_all(wanted, settings, journal, jobs, timeout)
    made = report(settings.target, settings.level, wanted, declared, journal.rows)
    share_symbolic_sizes(made["overloads"])
    made |= {"complete": complete, "timeout": timeout}
    faults = [r for r in journal.rows.values() if r["reason"] == INTERNAL]
    if faults:
        _say(faults)
    elif complete:
        keep(whole, made)
    return made


def _identity(settings: Settings) -> tuple[str, dict[str, Any]]:
    """What a scan is kept under, and all that it depends on."""
    identity = {"torch": torch.__version__, "code": code_key(settings.target), **asdict(settings)}
    identity["dtypes"] = list(settings.dtypes)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16], identity


def _what_is_asked(settings: Settings, chosen: Callable[[Operator], bool] | None) -> tuple[Catalogue, Declared]:
    """The operators to list, and what the target's tables say of any."""
    everything = catalogue()
    target = find_target(settings.target).with_options(optional_kernels=settings.optional_kernels)
    operators = {n: o for n, o in everything.operators.items() if chosen is None or chosen(o)}
    return Catalogue(operators, everything.builtins), Declared.of(target, everything)


def _cut_short(found: dict[str, Any], timeout: float) -> bool:
    """Whether overloads of a report took longer than they were given then, and would be given more now."""
    return found["timeout"] < timeout and any(o["reason"] == "timeout" for o in found["overloads"])


def _examine_all(wanted: Catalogue, settings: Settings, journal: Journal, jobs: int, timeout: float) -> None:
    names = [n for n, o in wanted.operators.items() if o.tier not in WITHOUT_CALLS]
    todo = [n for n in names if n not in journal.rows or journal.rows[n].get("timeout", timeout) < timeout]
    if not todo:
        return
    _warm_up(settings)
    with progress(f"coverage ({settings.level})", total=len(names), done=len(names) - len(todo)) as advance:
        work = run_isolated(
            todo, partial(_row, settings), _lost, jobs=jobs, timeout=timeout, per_worker=PER_WORKER[settings.level]
        )
        for row in work:
            if row["reason"] == "timeout":
                row["timeout"] = timeout  # a scan that gives more time looks again
            if row["reason"] == INTERNAL:
                journal.rows[row["case"]] = row  # in this report; not kept, so that the next scan looks again
            else:
                journal.add(row)
            advance(row["case"])


def _row(settings: Settings, name: str) -> dict[str, Any]:
    try:
        found = examine(name, settings)
    except Exception as error:
        return _ours(name, error)
    row = found.to_dict() | {"case": name, "status": "none"}
    if found.statuses:
        base = settings.dtypes[0] if settings.dtypes[0] in found.statuses else next(iter(found.statuses))
        row["status"], row["reason"], row["detail"] = summary(found, base)
        _judge_by_results(row, base)
    return row


_OUTCOMES = {"fail": "wrong-result", "error": "backend-error", "fallback": "host-fallback"}
"""The reason for a verdict of none by what running a call found."""


def _judge_by_results(row: dict[str, Any], base: str) -> None:
    """A call that compiles but gives another result than eager, or runs on the host, is not covered.

    In another dtype than the first that shows in that dtype's cell; gradients and symbolic sizes count as the first dtype.
    Where no call of the first dtype ran, since PyTorch's capture fails on it or changes its result, the overload is untraceable.
    """
    for outcome, reason in _OUTCOMES.items():
        for problem in row["problems"]:
            place, _, rest = problem.partition(": ")
            if not rest.startswith(f"{outcome}: "):
                continue
            if place in row["statuses"] and place != base:
                row["statuses"][place].append("none")
            elif row["status"] != "none":
                row["status"], row["reason"], row["detail"] = "none", reason, problem
    for problem in row["problems"] if row["status"] != "none" and base not in row["ran_dtypes"] else ():
        if problem.startswith(f"{base}: untraceable: "):
            row["status"], row["reason"], row["detail"] = "none", "untraceable", problem


def _lost(name: str, status: str, detail: str) -> dict[str, Any]:
    lost = {
        "statuses": {},
        "through": [],
        "missing": [],
        "sources": [],
        "ran": 0,
        "ran_dtypes": [],
        "worst_error": None,
    }
    return lost | {
        "case": name,
        "name": name,
        "status": "none",
        "reason": status,
        "detail": f"the examination ended: {detail}",
        "dynamic": None,
        "gradient": None,
        "problems": [],
        "no_call": "",
    }


def _ours(name: str, error: Exception) -> dict[str, Any]:
    """The row of an overload whose examination failed: that is a fault of bringup, said so with its traceback, and no verdict."""
    row = _lost(name, INTERNAL, "")
    row["detail"] = f"bringup itself failed: {type(error).__name__}: {error}"
    row["problems"] = ["".join(traceback.format_exception(error))]
    return row


def _say(faults: list[dict[str, Any]]) -> None:
    first = faults[0]["problems"][0]
    print(
        f"bringup itself failed on {', '.join(r['name'] for r in faults)}: that is our fault, please report it.\n{first}",
        file=sys.stderr,
    )


def _warm_up(settings: Settings) -> None:
    """Import what every worker needs before they are forked, and find the calls of each dtype, once for a release."""
    from bringup import compile_function

    for dtype in settings.dtypes:  # a worker may have no workers of its own, which looking for calls needs
        index(dtype)
    compile_function(torch.neg)(torch.ones(2))
    x = torch.ones(2, 2)
    for overload in (torch.ops.aten.addmm.default, torch.ops.aten.addcmul_.default):  # what PyTorch imports late
        find_target("sim").verdict(Call(overload, (x, x, x)))


def checked_dtypes(text: str) -> tuple[str, ...]:
    """The dtypes of a comma-separated list.

    Raises:
        OptionError: torch has no such dtype.
    """
    names = tuple(text.split(","))
    for name in names:
        if not isinstance(getattr(torch, name, None), torch.dtype):
            raise OptionError(f"unknown dtype {name!r} in --dtypes; write them as torch does, such as float32,bfloat16")
    return names
