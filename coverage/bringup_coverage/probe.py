"""Run one OpInfo case on a backend and compare every sample with eager."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup_coverage.experiment import Experiment
from bringup_coverage.samples import Case, has_backward, opinfos, samples

UNINITIALISED = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")
"""OpInfos whose values nobody promises: shape, dtype and strides are compared."""


@dataclass(frozen=True)
class Outcome:
    """What a case gave.

    Attributes:
        case: ``operator:dtype``.
        status: pass, fail, fallback, error, untraceable (PyTorch cannot trace it, or eager not run it), crash or timeout.
        samples: how many samples were run.
        backward: whether gradients were compared too.
        detail: for anything but a pass, the first sample that went wrong and how.
    """

    case: str
    status: str
    samples: int
    backward: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return asdict(self)


def probe(case: Case, options: dict[str, Any], limit: int | None = None, *, forward_only: bool = False) -> Outcome:
    """Run every sample of a case; the first that goes wrong decides the status.

    Samples that PyTorch cannot trace, or eager not run, are counted and left out; a case of nothing else is untraceable.
    """
    op = opinfos()[case.operator]
    dtype = getattr(torch, case.dtype)
    backward = has_backward(op, dtype) and not forward_only
    count = untraceable = 0
    first = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(case, limit, requires_grad=backward):
            finding = _sample(op, sample, options, backward).run()
            status, detail = finding.status, finding.detail
            count += 1
            if status == "untraceable":
                untraceable += 1
                first = first or f"sample {count - 1}: {detail}"
            elif status != "pass":
                return Outcome(str(case), status, count, backward, f"sample {count - 1}: {detail}")
    if count and untraceable == count:
        return Outcome(str(case), "untraceable", count, backward, first)
    left_out = f"{untraceable} of {count} untraceable, first {first}" if untraceable else ""
    return Outcome(str(case), "pass", count, backward, left_out)


def _sample(op: Any, sample: Any, options: dict[str, Any], backward: bool) -> Experiment:
    """The operator as a function of one sample's tensors."""
    flat, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    where = [i for i, v in enumerate(flat) if isinstance(v, torch.Tensor)]

    def function(*tensors: torch.Tensor) -> Any:
        values = list(flat)
        for i, tensor in zip(where, tensors, strict=True):
            values[i] = tensor
        input_, args, kwargs = pytree.tree_unflatten(values, spec)
        return op.op(input_, *args, **kwargs)

    return Experiment(
        function,
        [flat[i] for i in where],
        options,
        backward,
        process=sample.output_process_fn_grad,
        metadata_only=op.name in UNINITIALISED,
    )
