"""A sweep: many OpInfo cases through the pool, journalled, with a progress bar."""

from __future__ import annotations

import fnmatch
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bringup.errors import OptionError
from bringup_coverage.journal import Journal
from bringup_coverage.pool import run_isolated
from bringup_coverage.probe import Outcome, probe
from bringup_coverage.progress import progress
from bringup_coverage.samples import Case, cases


@dataclass(frozen=True)
class Settings:
    """What is run, and with what options. Two runs with equal settings resume each other."""

    dtypes: tuple[str, ...] = ("float32",)
    only: str = "*"
    samples: int | None = None
    forward_only: bool = False
    optional_kernels: bool = False
    target: str = "sim"

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain data, with the torch release."""
        return {**asdict(self), "dtypes": list(self.dtypes), "torch": torch.__version__}


def selected(settings: Settings) -> list[Case]:
    """The cases that the settings choose, sorted.

    Raises:
        OptionError: a dtype that torch does not have.
    """
    for name in settings.dtypes:
        if not isinstance(getattr(torch, name, None), torch.dtype):
            raise OptionError(f"unknown dtype {name!r} in --dtypes; write them as torch does, such as float32,bfloat16")
    return [c for c in cases(settings.dtypes) if fnmatch.fnmatchcase(c.operator, settings.only)]


def _run(settings: Settings, case: Case) -> Outcome:
    options = {"optional_kernels": settings.optional_kernels, "target": settings.target}
    forward_only = settings.forward_only or case.dtype != "float32"
    try:
        return probe(case, options, settings.samples, forward_only=forward_only)
    except Exception as error:  # a sample generator or eager itself that fails is a row, with its reason
        return Outcome(str(case), "error", 0, False, f"{type(error).__name__}: {str(error)[:300]}")


def _lost(case: Case, status: str, detail: str) -> Outcome:
    return Outcome(str(case), status, 0, False, detail)


def sweep(settings: Settings, path: Path, *, jobs: int, timeout: float, fresh: bool = False) -> list[dict[str, Any]]:
    """Run the cases that the journal at `path` has no outcome of; returns the outcomes of all, sorted by case.

    Gradients are compared in float32; other dtypes run forward.
    """
    journal = Journal(path, settings.to_dict(), fresh=fresh)
    wanted = selected(settings)
    todo = [c for c in wanted if str(c) not in journal.rows]
    _warm_up()
    with progress("conformance", total=len(wanted), done=len(wanted) - len(todo)) as advance:
        for outcome in run_isolated(todo, partial(_run, settings), _lost, jobs=jobs, timeout=timeout):
            journal.add(outcome.to_dict())
            advance(outcome.case)
    return [journal.rows[str(c)] for c in sorted(wanted)]


def _warm_up() -> None:
    """Import what every worker needs before they are forked."""
    from bringup import compile_function

    compile_function(torch.neg)(torch.ones(2))
