"""The usage of the OpInfos: which overloads the first samples of each call, forward and backward."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch

from bringup_coverage.accuracy import leaves
from bringup_coverage.pool import run_isolated
from bringup_coverage.samples import Case, has_backward, opinfos, samples
from bringup_coverage.usage.record import Recorder
from bringup_coverage.usage.record_models import Recorded
from bringup_coverage.usage.usage import Usage

SAMPLES = 8
"""Samples of one OpInfo that are watched."""

DTYPES = ("float32", "int64", "bool", "complex64")
"""An OpInfo is watched in the first of these that it supports."""


def watched() -> list[Case]:
    """Every OpInfo of the installed torch, in the dtype that it is watched in."""
    found = []
    for name, op in sorted(opinfos().items()):
        dtype = next((d for d in DTYPES if op.supports_dtype(getattr(torch, d), "cpu")), None)
        if dtype is not None:
            found.append(Case(name, dtype))
    return found


def record_opinfos(cases: list[Case], *, jobs: int, timeout: float = 120.0) -> Iterator[Recorded]:
    """Record OpInfos, each in a worker of the pool; they come in the order in which they finish."""
    yield from run_isolated(cases, _record, _lost, jobs=jobs, timeout=timeout)


def _record(case: Case) -> Recorded:
    op = opinfos()[case.operator]
    backward = has_backward(op, getattr(torch, case.dtype))
    recorder = Recorder()
    error = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(case, SAMPLES, requires_grad=backward):
            try:
                _watch(op, sample, recorder, backward)
            except Exception as raised:  # eager refuses a sample: the others are watched all the same
                error = error or f"{type(raised).__name__}: {raised}"
    return Recorded(case.operator, _names(recorder.usage), error)


def _watch(op: Any, sample: Any, recorder: Recorder, backward: bool) -> None:
    """One call of the operator, and the gradients of its results; what the results are made ready with is not counted."""
    with recorder:
        results = op.op(sample.input, *sample.args, **sample.kwargs)
    if not backward:
        return
    outputs = [t for t in leaves(sample.output_process_fn_grad(results)) if t.requires_grad]
    inputs = [t for t in leaves([sample.input, list(sample.args), sample.kwargs]) if t.requires_grad]
    if outputs and inputs:
        seeds = [torch.ones_like(t) for t in outputs]
        with recorder:
            torch.autograd.grad(outputs, inputs, seeds, allow_unused=True)


def _names(usage: Usage) -> dict[str, dict[str, Any]]:
    return {n: {"forward": c.forward, "backward": c.backward} for n, c in sorted(usage.items())}


def _lost(case: Case, status: str, detail: str) -> Recorded:
    return Recorded(case.operator, {}, f"{status}: {detail}")
