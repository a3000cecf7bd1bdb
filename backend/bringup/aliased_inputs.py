"""Inputs that share memory: AOTAutograd builds their offsets into the graph, and Dynamo guards only that they overlap.

Two slices of one tensor at offset 0 compile to a graph that reads offset 0; the same call with slices at offset 2 passes
Dynamo's guards and would read the wrong elements (pytorch/pytorch#139111). Here such calls get a graph of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from bringup.torch_internals import concrete, memory_key

Compile = Callable[[Sequence[Any]], Callable[..., Any]]

_VARIANTS = 64


def guard_offsets(compile_for: Compile, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile for the example inputs, and again for every other placement of inputs that share memory.

    Args:
        compile_for: compiles for given inputs; called again with real tensors.
        example_inputs: Dynamo's fake inputs.
    """
    first = compile_for(example_inputs)
    shared = _sharing(example_inputs)
    if not shared:
        return first
    placement = _placement(example_inputs, shared)
    variants: dict[Any, Callable[..., Any]] = {}

    def call(*inputs: Any) -> Any:
        found = _placement(inputs, shared)
        if found == placement:
            return first(*inputs)
        key = (found, tuple(_layout(value) for value in inputs), torch.is_grad_enabled())
        if key not in variants:
            if len(variants) >= _VARIANTS:
                variants.clear()
            variants[key] = compile_for(inputs)
        return variants[key](*inputs)

    return call


def _sharing(inputs: Sequence[Any]) -> tuple[int, ...]:
    """Positions of the inputs that share memory with another one."""
    owners: dict[int, list[int]] = {}
    for position, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            owners.setdefault(memory_key(value), []).append(position)
    return tuple(sorted(p for group in owners.values() if len(group) > 1 for p in group))


def _placement(inputs: Sequence[Any], shared: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Offset of each sharing input, and which of them share one memory (by order of appearance)."""
    seen: dict[int, int] = {}
    tensors = [inputs[p] for p in shared]
    return tuple((concrete(t.storage_offset()), seen.setdefault(memory_key(t), len(seen))) for t in tensors)


def _layout(value: Any) -> Any:
    return (tuple(value.shape), value.stride()) if isinstance(value, torch.Tensor) else value
