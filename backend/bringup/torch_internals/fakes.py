"""Tensors without data, symbolic sizes, and the modes that make them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from bringup.torch_internals.shadows import Shadow


def is_data_dependent(error: BaseException) -> bool:
    """Whether tracing failed because a size, a number or a branch depends on the data of a tensor."""
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    return isinstance(error, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode))


def fake_inputs(tensors: Sequence[torch.Tensor], *, dynamic: bool) -> tuple[Any, list[Any]]:
    """A fake mode and fakes in it of real tensors, with symbolic sizes or with the sizes that they have."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv() if dynamic else None, allow_non_fake_inputs=True)
    if not dynamic:
        return mode, [mode.from_tensor(t, static_shapes=True) for t in tensors]
    mode.cache_enabled = False  # entries with symbols cost more than they save
    named = [(t, ConstantSource(f"input_{i}")) for i, t in enumerate(tensors)]
    return mode, [mode.from_tensor(t, static_shapes=False, source=source) for t, source in named]


@contextlib.contextmanager
def suppress_tracing() -> Iterator[None]:
    """Run real work inside a tracing context: constant folding computes with real tensors."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        yield


def is_fake(value: object) -> bool:
    """Whether a value is a fake tensor or a shadow, which has a shape and no data."""
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(value, (FakeTensor, Shadow))


@contextlib.contextmanager
def fakes_of_their_own() -> Iterator[None]:
    """Tensors that are made inside are fake and belong to no trace that is going on."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with suppress_tracing(), FakeTensorMode(), torch.no_grad():
        yield


def unbacked_or_symbolic(value: object) -> bool:
    """Whether a size is symbolic, hence not known when the graph is compiled."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def concrete(size: Any) -> int:
    """The value that a size has in the example inputs; a symbolic size is not specialised by asking."""
    if isinstance(size, torch.SymInt):
        hint = size.node.hint
        return int(hint) if hint is not None else -1
    return int(size)
