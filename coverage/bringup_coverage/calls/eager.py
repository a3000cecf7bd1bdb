"""Whether eager accepts a call, and how good its results are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch

from bringup.torch_internals import find_overload
from bringup_coverage.calls.recipe import fresh, walk


@dataclass(frozen=True)
class Trial:
    """What eager made of a call.

    Attributes:
        accepted: whether it ran.
        outputs: what it returned.
        error: why it did not run, one line.
        sound: whether some result has elements and none has a NaN or an infinity.
        arguments: the copies that it ran on, as the operator left them.
    """

    accepted: bool
    outputs: Any = None
    error: str = ""
    sound: bool = False
    arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})


def run(overload: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
    """Run a call on copies of its tensors, seeded; random state, gradient mode and warnings are left as they were."""
    op = find_overload(overload)
    if op is None:
        return Trial(False, error="no such operator")
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(
            0
        )  # manual_seed also speaks to every accelerator, which costs more than a call
        try:
            arguments = fresh(args, kwargs)
            outputs = op(*arguments[0], **arguments[1])
        except Exception as error:
            return Trial(False, error=one_line(error))
        return Trial(True, outputs, "", _sound(outputs), arguments)


def one_line(error: Exception) -> str:
    """An error's type and the first lines of its text, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _sound(outputs: Any) -> bool:
    found: list[bool] = []
    walk(outputs, lambda leaf: found.append(_finite(leaf)) if isinstance(leaf, torch.Tensor) else None)
    if not found:
        return True
    return all(found) and any(_has_elements(outputs))


def _has_elements(outputs: Any) -> list[bool]:
    found: list[bool] = []
    walk(outputs, lambda leaf: found.append(leaf.numel() > 0) if isinstance(leaf, torch.Tensor) else None)
    return found


def _finite(tensor: torch.Tensor) -> bool:
    if tensor.layout is not torch.strided or not (tensor.is_floating_point() or tensor.is_complex()):
        return True
    try:
        return bool(torch.isfinite(tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)).all())
    except (RuntimeError, NotImplementedError):
        return True
