"""Counts every overload that reaches the dispatcher below autograd."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bringup.torch_internals import HigherOrderOperator, in_backward, overload_name
from bringup_coverage.usage.usage import Calls, Usage

_RUNS = 6
"""Runs of equal tensors that the pattern of one call spells out: a list may have hundreds."""


class Recorder(TorchDispatchMode):
    """While it is active, the calls of this thread and of the backwards that it starts are counted in `usage`.

    Operators that others implement above autograd are not seen, those that implement them are. A call is counted when it is
    made, whether it succeeds or not. Of a higher-order operator the call is counted, not what its bodies call.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.usage: Usage = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            self._count(f"higher_order::{func.name()}", args, kwargs)
        elif func.namespace != "prim":  # a question about a tensor, which is no work for a device
            self._count(overload_name(func), args, kwargs)
        return func(*args, **kwargs)

    def _count(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tensors = list(_tensors([*args, *kwargs.values()]))
        dtypes = " ".join(sorted({_dtype(t) for t in tensors}))
        self.usage.setdefault(name, Calls()).add(dtypes, _pattern(tensors), backward=in_backward())


def _tensors(values: Any) -> Any:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _pattern(tensors: list[torch.Tensor]) -> str:
    """Dtypes and shapes in order; ``3*float32[2]`` for three alike in a row, and an ellipsis for what is left out."""
    spelled = [f"{_dtype(t)}[{','.join(map(str, t.shape))}]" for t in tensors]
    runs = [(text, len(list(group))) for text, group in groupby(spelled)]
    shown = [text if count == 1 else f"{count}*{text}" for text, count in runs[:_RUNS]]
    return " ".join(shown + (["..."] if len(runs) > _RUNS else []))
