"""Two modes that watch programs run: overloads with their arguments, and the Python functions above them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from bringup.torch_internals import OpOverload, overload_name
from bringup_coverage.calls.plain import NotPlain, Plain, to_plain
from bringup_coverage.calls.recipe import tensors_of
from bringup_coverage.probe import UNINITIALISED

_CALLS_PER_NAME = 6
_ELEMENTS = 20_000


@dataclass
class Recording:
    """Calls by overload, and by the name of a Python function, each pattern of arguments once."""

    overloads: dict[str, dict[str, Plain]] = field(default_factory=dict)
    functions: dict[str, dict[str, Plain]] = field(default_factory=dict)

    def merge(self, other: Recording) -> None:
        """Take over what another recording has and this one lacks, as far as there is room."""
        for mine, theirs in ((self.overloads, other.overloads), (self.functions, other.functions)):
            for name, calls in theirs.items():
                room = mine.setdefault(name, {})
                for pattern, call in calls.items():
                    if len(room) < 2 * _CALLS_PER_NAME:
                        room.setdefault(pattern, call)


def note(table: dict[str, dict[str, Plain]], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Write a call down, before it runs, unless its pattern is known, its tensors are large, or it has no plain form."""
    calls = table.setdefault(name, {})
    if len(calls) >= _CALLS_PER_NAME:
        return
    pattern = repr([_pattern(a) for a in args] + [(k, _pattern(v)) for k, v in kwargs.items()])
    if pattern in calls:
        return
    if sum(t.numel() for t in tensors_of(args, kwargs)) > _ELEMENTS:
        return
    try:
        calls[pattern] = to_plain(args, kwargs)
    except (NotPlain, RuntimeError, NotImplementedError):  # tensors without storage: sparse, functorch wrappers
        return


def _pattern(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (str(value.dtype), value.dim(), value.numel() == 0, value.is_contiguous())
    if isinstance(value, (list, tuple)):
        return [len(value), *map(_pattern, value[:2])]
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return type(value).__name__
    return str(value)


class Overloads(TorchDispatchMode):
    """Notes every overload that reaches the dispatcher below autograd."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, OpOverload) and func.namespace == "aten":
            note(self.recording.overloads, overload_name(func), tuple(args), kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, torch.Tensor) and func.name().partition("::")[2].partition(".")[0] in UNINITIALISED:
            result.fill_(1)  # what happened to be in memory would be another recipe in every run
        return result


class Functions(TorchFunctionMode):
    """Notes Python functions by name: the only trace of an operator that is implemented by others above autograd."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name and name != "__get__":
            note(self.recording.functions, _packet(func, name), tuple(args), kwargs)
        return func(*args, **kwargs)


def _packet(func: Any, name: str) -> str:
    """The name that the operator behind a Python function most likely has."""
    module = str(getattr(func, "__module__", "") or "")
    for family in ("linalg", "fft", "special", "nested", "sparse"):
        if module == f"torch.{family}" and not name.startswith(family):
            return f"{family}_{name}"
    return name
