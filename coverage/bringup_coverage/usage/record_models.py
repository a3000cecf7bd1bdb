"""The usage of the architectures: one inference and one training step of each, in eager."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bringup_coverage.architectures.row import Architecture, Example
from bringup_coverage.model_run import RATE, loss_of
from bringup_coverage.pool import run_isolated
from bringup_coverage.usage.record import Recorder
from bringup_coverage.usage.usage import to_plain


@dataclass(frozen=True)
class Recorded:
    """What was recorded.

    Attributes:
        name: of the architecture.
        usage: as plain data.
        error: why there is none.
    """

    name: str
    usage: dict[str, dict[str, Any]]
    error: str = ""


def record_models(architectures: Sequence[Architecture], *, jobs: int, timeout: float = 300.0) -> Iterator[Recorded]:
    """Record architectures, each in a worker of the pool; they come in the order in which they finish."""
    import transformers

    transformers.logging.set_verbosity_error()
    yield from run_isolated(architectures, _record, _lost, jobs=jobs, timeout=timeout)


def run(example: Example) -> None:
    """One inference, and one training step with gradient descent; the model's parameters change."""
    model, inputs = example.model, example.inputs
    with torch.no_grad():
        model(**inputs)
    model.train()
    loss_of(model(**inputs)).backward()
    torch.optim.SGD(model.parameters(), lr=RATE).step()


def _record(architecture: Architecture) -> Recorded:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            example = architecture.build()
            torch.manual_seed(1)
            with Recorder() as recorder:
                run(example)
        except Exception as error:
            return Recorded(architecture.model_type, {}, f"{type(error).__name__}: {error}")
    return Recorded(architecture.model_type, to_plain(recorder.usage))


def _lost(architecture: Architecture, status: str, detail: str) -> Recorded:
    return Recorded(architecture.model_type, {}, f"{status}: {detail}")
