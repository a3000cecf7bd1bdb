"""Which entries of PyTorch's own decomposition table a target starts from, and which it must not use."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import torch

from bringup.decompositions.registry import Decomposition
from bringup.torch_internals import OpOverload, overload_name, pytorch_decompositions

HARMFUL: dict[str, str] = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": "returns attention weights where the backward reads logsumexp",
    "aten::rrelu_with_noise": "a helper of it mutates the input",
}

_NOT_A_WRITE = frozenset({"requires_grad_"})
_WRITES = frozenset(n for n in dir(torch.Tensor) if n.endswith("_") and not n.endswith("__")) - _NOT_A_WRITE | {
    "copy_to"
}


def usable_entries() -> dict[OpOverload, Decomposition]:
    """PyTorch's table without the entries that are wrong, and without those that write to tensors.

    A decomposition is traced below functionalization: what it writes would stay a write in a graph that has to be
    functional.
    """
    return {
        op: fn for op, fn in pytorch_decompositions().items() if overload_name(op) not in HARMFUL and not writes(fn)
    }


def writes(decomposition: Callable[..., Any]) -> bool:
    """Whether a decomposition's own code calls an in-place method or sets the real or imaginary part of a tensor."""
    return any(_is_write(step) for code in _codes(decomposition, set()) for step in dis.get_instructions(code))


def _is_write(step: dis.Instruction) -> bool:
    if step.opname == "STORE_ATTR":
        return step.argval in ("real", "imag")
    return step.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL") and step.argval in _WRITES


def _codes(function: Callable[..., Any], seen: set[CodeType]) -> Iterator[CodeType]:
    """The code of a function and of those that it wraps or closes over."""
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType) or inner.__code__ in seen:
        return
    seen.add(inner.__code__)
    yield inner.__code__
    for cell in inner.__closure__ or ():
        if _is_filled(cell) and isinstance(cell.cell_contents, FunctionType):
            yield from _codes(cell.cell_contents, seen)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
