"""Whether a target's tables are tables: what a user wrote wrongly is one sentence, before anything is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from bringup.errors import TargetError
from bringup.target.kernel import Kernel
from bringup.torch_internals import OpOverload, find_overload, is_dispatched


def validate_tables(
    name: str, kernels: tuple[Kernel, ...], decompositions: Mapping[Any, Any], lowerings: Mapping[Any, Any]
) -> None:
    """Check the rows, the decompositions and the lowerings of the target called `name`.

    Raises:
        TargetError: what is wrong with which of them.
    """
    seen: set[str] = set()
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise TargetError(f"target {name!r} has {kernel!r} among its kernels; a row is a bringup.Kernel")
        if kernel.overload in seen:
            raise TargetError(f"target {name!r} has two kernels for {kernel.overload}; keep one row per overload")
        seen.add(kernel.overload)
        _exists(kernel.overload, f"target {name!r} has a kernel for {kernel.overload!r}")
    for overload, function in decompositions.items():
        if not isinstance(overload, OpOverload):
            raise TargetError(
                f"target {name!r} decomposes {overload!r}; a key is an overload, such as torch.ops.aten.silu.default"
            )
        if not callable(function):
            raise TargetError(f"target {name!r} decomposes {overload} by {function!r}, which cannot be called")
    for operation, rule in lowerings.items():
        if not isinstance(operation, str):
            raise TargetError(f"target {name!r} lowers {operation!r}; a key is a name, such as 'aten::add.Tensor'")
        _exists(operation, f"target {name!r} lowers {operation!r}")
        if not callable(rule):
            raise TargetError(f"target {name!r} lowers {operation} by {rule!r}, which cannot be called")


def validate_hooks(name: str, **hooks: Any) -> None:
    """Check that each hook of the target called `name` is a tuple of callables.

    Raises:
        TargetError: one is not.
    """
    for attribute, functions in hooks.items():
        if not isinstance(functions, (tuple, list)) or not all(map(callable, functions)):
            raise TargetError(f"{attribute} of target {name!r} is {functions!r}; it must be a tuple of functions")


def _exists(operator: str, what: str) -> None:
    """An operator of aten has to be there; one of another namespace may be registered later."""
    namespace, _, rest = operator.partition("::")
    if namespace != "aten" or (find_overload(operator) is not None and is_dispatched(operator)):
        return
    packet = getattr(torch.ops.aten, rest.partition(".")[0], None)
    there = "" if packet is None else "; its overloads are " + ", ".join(_spelled(packet))
    raise TargetError(f"{what}, which torch {torch.__version__} does not have{there}")


def _spelled(packet: Any) -> list[str]:
    names = (f"aten::{packet.__name__}" + ("" if o == "default" else f".{o}") for o in packet.overloads())
    return [n for n in names if is_dispatched(n)]
