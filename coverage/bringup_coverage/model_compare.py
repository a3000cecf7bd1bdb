"""When a compiled model's results count as equal to eager's.

A tensor is equal when dtype and shape are eager's and no element is further off than `TOLERANCE` times the tensor's
own largest magnitude, plus `FLOOR` times the largest magnitude of its group (outputs, gradients, state), below which
a whole model's result is rounding noise: the gradient of a key's bias is zero but for it. Where that fails,
`accuracy.mismatch` decides against float64, on tensors scaled to magnitude one. A compiled model adds up the
differences of many operators, hence wider tolerances than for one operator. A missing gradient is equal to one of
zeros.
"""

from __future__ import annotations

import torch

from bringup_coverage.accuracy import mismatch
from bringup_coverage.architectures.row import Architecture
from bringup_coverage.model_run import Results, run, widened

TOLERANCE = 1e-4
FLOOR = 1e-6
TRUSTED = 1e-2
"""Eager further than this from float64, of the largest magnitude, took another path: that reference excuses nothing."""


def compare(actual: Results, expected: Results, architecture: Architecture) -> str | None:
    """The first tensor that is not equal to eager's, and how, or None."""
    exact: Results | None = None
    for group, theirs in expected.items():
        ours = actual[group]
        largest = max((_magnitude(t) for t in theirs.values()), default=0.0)
        for name in dict.fromkeys([*theirs, *ours]):
            a, e = ours.get(name), theirs.get(name)
            if a is None or e is None:
                if _is_something(a) or _is_something(e):
                    return f"{group} {name}: {'missing' if a is None else 'eager has none'}"
                continue
            if near(a, e, FLOOR * largest):
                continue
            exact = exact if exact is not None else _exact(architecture)
            why = _against_float64(a, e, exact.get(group, {}).get(name))
            if why is not None:
                return f"{group} {name}: {why} (largest {_magnitude(e):.3g})"
    return None


def near(a: torch.Tensor, e: torch.Tensor, floor: float) -> bool:
    """Whether `a` is within the tolerance of eager's `e`; integers must be equal."""
    if a.dtype != e.dtype or a.shape != e.shape:
        return False
    if not _has_tolerance(e):
        return bool(torch.equal(a, e))
    return bool(torch.allclose(a, e, rtol=0.0, atol=TOLERANCE * _magnitude(e) + floor, equal_nan=True))


def _against_float64(a: torch.Tensor, e: torch.Tensor, exact: torch.Tensor | None) -> str | None:
    if a.dtype != e.dtype or a.shape != e.shape or not _has_tolerance(e):
        why = mismatch(a, e)
        return None if why is None else why.removeprefix("result 0: ")
    scale = _magnitude(e) or 1.0
    usable = exact is not None and exact.shape == e.shape and float((e - exact).abs().max()) <= TRUSTED * scale
    reference = (lambda: exact / scale) if usable and exact is not None else None
    why = mismatch(a / scale, e / scale, reference)
    return None if why is None else why.removeprefix("result 0: ")


def _exact(architecture: Architecture) -> Results:
    try:
        return run(widened(architecture.build()))
    except Exception:  # a model that makes float32 tensors itself has no reference; the tolerances alone decide
        return {}


def _magnitude(tensor: torch.Tensor) -> float:
    if not _has_tolerance(tensor):
        return 0.0
    finite = tensor[torch.isfinite(tensor)]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _has_tolerance(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _is_something(tensor: torch.Tensor | None) -> bool:
    return tensor is not None and bool(tensor.any())
