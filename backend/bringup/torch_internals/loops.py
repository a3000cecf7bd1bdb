"""Loops in decompositions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import torch

_LOOP_CONDITIONS: ContextVar[list[torch.Tensor] | None] = ContextVar("loop_conditions", default=None)


@contextlib.contextmanager
def loops_run_once() -> Iterator[list[torch.Tensor]]:
    """Within it `while_loop` evaluates its condition and its body once and loops not at all; gives the conditions' results."""
    conditions: list[torch.Tensor] = []
    token = _LOOP_CONDITIONS.set(conditions)
    try:
        yield conditions
    finally:
        _LOOP_CONDITIONS.reset(token)


def while_loop(
    condition: Callable[..., torch.Tensor],
    body: Callable[..., tuple[torch.Tensor, ...]],
    carried: tuple[torch.Tensor, ...],
    captured: tuple[torch.Tensor, ...] = (),
) -> tuple[torch.Tensor, ...]:
    """A loop for decompositions: `carried` becomes ``body(*carried, *captured)`` while ``condition(*carried, *captured)``.

    Tracing it under fake tensors needs a shape environment, which a fake mode with static shapes may lack.
    """
    from torch._guards import detect_fake_mode
    from torch._higher_order_ops.while_loop import while_loop_op
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    conditions = _LOOP_CONDITIONS.get()
    if conditions is not None:
        conditions.append(condition(*carried, *captured))
        return tuple(body(*carried, *captured))
    loop: Any = while_loop_op
    mode = detect_fake_mode((carried, captured))
    if mode is None or mode.shape_env is not None:
        return tuple(loop(condition, body, carried, captured))
    mode.shape_env = ShapeEnv()
    try:
        return tuple(loop(condition, body, carried, captured))
    finally:
        mode.shape_env = None
