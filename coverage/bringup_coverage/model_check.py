"""One architecture on a backend, compared with eager; `model_compare` has the policy."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from bringup import recording
from bringup.recorder import Report
from bringup_coverage.architectures.row import Architecture
from bringup_coverage.model_compare import compare
from bringup_coverage.model_run import Results, run

BASELINE = "aot_eager"
"""PyTorch's own backend without a compiler: what fails on it, too, is no fault of a backend."""


@dataclass(frozen=True)
class ModelOutcome:
    """What an architecture gave.

    Attributes:
        case: its model type.
        kind: its kind.
        status: pass, fallback (right, but partly on the host), fail, error, excluded, crash or timeout.
        detail: for anything but a pass, what went wrong first.
        fallbacks: what ran on the host: operator, reason, detail, count.
        programs: how many graphs were compiled; zero on another backend than bringup.
        seconds: processor time.
    """

    case: str
    kind: str
    status: str
    detail: str = ""
    fallbacks: tuple[dict[str, Any], ...] = ()
    programs: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {**asdict(self), "fallbacks": list(self.fallbacks)}


def check(architecture: Architecture, backend: str, options: dict[str, Any]) -> ModelOutcome:
    """Run an architecture on a backend.

    What fails is tried in eager again and on the baseline, which may exclude it.
    """
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = _check(architecture, backend, options)
        if outcome.status in ("fail", "error"):
            reason = _excuse(architecture, backend)
            if reason:
                outcome = replace(outcome, status="excluded", detail=f"{reason} (on {backend}: {outcome.detail})")
    return replace(outcome, seconds=round(time.process_time() - started, 2))


def _check(architecture: Architecture, backend: str, options: dict[str, Any]) -> ModelOutcome:
    report = Report()
    case, kind = architecture.model_type, architecture.kind
    try:
        expected = run(architecture.build())
    except Exception as error:
        return ModelOutcome(case, kind, "error", f"in eager: {_said(error)}")
    try:
        with recording() as report:
            actual = _compiled(architecture, backend, options)
        why = compare(actual, expected, architecture)
    except Exception as error:
        return ModelOutcome(case, kind, "error", _said(error), _fallbacks(report), len(report.programs))
    if why is None and backend == "bringup" and not report.programs:
        return ModelOutcome(case, kind, "error", "Dynamo compiled no graph")
    fallbacks = _fallbacks(report)
    status, detail = ("fail", why) if why is not None else ("pass", "")
    if fallbacks and why is None:
        status, detail = "fallback", ", ".join(dict.fromkeys(f["operator"] for f in fallbacks))
    return ModelOutcome(case, kind, status, detail, fallbacks, len(report.programs))


def _compiled(architecture: Architecture, backend: str, options: dict[str, Any]) -> Results:
    torch.compiler.reset()
    extra: Any = {"options": options} if options else {}
    return run(architecture.build(), lambda model: torch.compile(model, backend=backend, **extra))


def _excuse(architecture: Architecture, backend: str) -> str | None:
    """Why no backend can be held to this architecture, or None."""
    try:
        expected = run(architecture.build())
        why = compare(run(architecture.build()), expected, architecture)
    except Exception as error:
        return f"eager fails: {_said(error)}"
    if why is not None:
        return f"eager differs from itself: {why}"
    if backend == BASELINE:
        return None
    try:
        why = compare(_compiled(architecture, BASELINE, {}), expected, architecture)
    except Exception as error:
        why = _said(error)
    return None if why is None else f"also fails under {BASELINE}: {why}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:600]}"


def _fallbacks(report: Report) -> tuple[dict[str, Any], ...]:
    return tuple({k: row[k] for k in ("operator", "reason", "detail", "source", "count")} for row in report.fallbacks)
