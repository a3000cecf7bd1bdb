"""All architectures through the pool of workers, journalled, with a progress bar."""

from __future__ import annotations

import fnmatch
import importlib.metadata
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bringup_coverage.architectures.catalogue import ARCHITECTURES
from bringup_coverage.architectures.row import Architecture
from bringup_coverage.journal import Journal
from bringup_coverage.model_check import ModelOutcome, check
from bringup_coverage.pool import run_isolated
from bringup_coverage.progress import progress


@dataclass(frozen=True)
class ModelSettings:
    """What is run, and with what options. Two runs with equal settings resume each other, whatever they leave out."""

    backend: str = "bringup"
    optional_kernels: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain data, with the releases of PyTorch and transformers."""
        return {**asdict(self), "torch": torch.__version__, "transformers": importlib.metadata.version("transformers")}

    def options(self) -> dict[str, Any]:
        """The backend's options; another backend than bringup gets none."""
        return {"optional_kernels": self.optional_kernels} if self.backend == "bringup" else {}


def selected(only: str) -> list[Architecture]:
    """The architectures whose model type or kind a shell pattern matches."""
    return [a for a in ARCHITECTURES if any(fnmatch.fnmatchcase(name, only) for name in (a.model_type, a.kind))]


def _run(settings: ModelSettings, architecture: Architecture) -> ModelOutcome:
    return check(architecture, settings.backend, settings.options())


def _lost(architecture: Architecture, status: str, detail: str) -> ModelOutcome:
    return ModelOutcome(architecture.model_type, architecture.kind, status, detail)


def sweep_models(
    settings: ModelSettings, only: str, path: Path, *, jobs: int, timeout: float, fresh: bool = False
) -> list[dict[str, Any]]:
    """Run the architectures that the journal at `path` has no outcome of; returns the outcomes of all selected ones."""
    journal = Journal(path, settings.to_dict(), fresh=fresh)
    wanted = selected(only)
    todo = [a for a in wanted if a.model_type not in journal.rows]
    _warm_up(settings.backend)
    with progress("models", total=len(wanted), done=len(wanted) - len(todo)) as advance:
        for outcome in run_isolated(todo, partial(_run, settings), _lost, jobs=jobs, timeout=timeout):
            journal.add(outcome.to_dict())
            advance(f"{outcome.case} {outcome.status}")
    return [journal.rows[a.model_type] for a in wanted]


def _warm_up(backend: str) -> None:
    """Import what every worker needs before they are forked."""
    import transformers

    transformers.logging.set_verbosity_error()
    torch.compile(torch.nn.Linear(2, 2), backend=backend)(torch.ones(2, 2)).sum().backward()
