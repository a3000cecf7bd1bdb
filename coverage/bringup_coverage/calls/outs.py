"""Places for results: the tensors that out= arguments are given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from bringup_coverage.calls.eager import Trial, run
from bringup_coverage.calls.recipe import walk
from bringup_coverage.calls.schema import Signature, signature

_DTYPES = (torch.float32, torch.int64, torch.bool, torch.int32, torch.float64, torch.complex64, torch.uint8)
_TRIES = 40


def with_outs(
    wanted: Signature, values: dict[str, Any], functional: Sequence[str], accepted: Callable[[], int]
) -> Iterator[dict[str, Any]]:
    """Completions of `values` by out arguments, until one is accepted.

    They are like the functional form's results; where there is no such form, empty ones of likely dtypes. No more is tried
    than must be: some operators write past the end of a result of the wrong dtype.
    """
    if not wanted.outs:
        yield values
        return
    for name in functional:
        args, kwargs = signature(name).call(values)
        results = _results(run(name, args, kwargs), wanted)
        if results is not None:
            yield {**values, **results}
            return
    if functional:
        return  # what the functional form refuses, this one refuses
    before = accepted()
    lists = [len(v) for v in values.values() if isinstance(v, (list, tuple)) and v and isinstance(v[0], torch.Tensor)]
    for dtypes in itertools.islice(itertools.product(_preferred(values), repeat=len(wanted.outs)), _TRIES):
        empty = {}
        for p, dtype in zip(wanted.outs, dtypes, strict=True):
            count = lists[0] if lists else 2
            one = torch.empty(0, dtype=dtype)
            empty[p.name] = [one.clone() for _ in range(count)] if p.type == "List[Tensor]" else one
        yield {**values, **empty}
        if accepted() > before:
            return


def settled(wanted: Signature, values: dict[str, Any], trial: Trial) -> dict[str, Any]:
    """The accepted values with out arguments of the sizes that eager gave them, filled with zeros."""
    after = wanted.bind(*trial.arguments) or {}
    outs = {p.name: walk(after.get(p.name, values[p.name]), _blank) for p in wanted.outs}
    return {**values, **outs}


def _results(trial: Trial, wanted: Signature) -> dict[str, Any] | None:
    if not trial.accepted:
        return None
    outputs = trial.outputs if isinstance(trial.outputs, tuple) else (trial.outputs,)
    if len(outputs) < len(wanted.outs):
        return None
    found = {}  # a functional form also returns what the out= form writes to its inputs, after the results
    for p, value in zip(wanted.outs, outputs, strict=False):
        if (p.type == "Tensor") != isinstance(value, torch.Tensor):
            return None
        found[p.name] = walk(value, _blank)
    return found


def _blank(value: Any) -> Any:
    return torch.zeros_like(value, memory_format=torch.contiguous_format) if isinstance(value, torch.Tensor) else value


def _preferred(values: dict[str, Any]) -> list[torch.dtype]:
    own = [v.dtype for v in values.values() if isinstance(v, torch.Tensor)]
    return list(dict.fromkeys([*own[:1], *_DTYPES]))
