"""Trace one call through a decomposition table to see which operators it ends in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from bringup.target.call import Call, on_host
from bringup.torch_internals import HigherOrderOperator, OpOverload, capture, decomposed_above, is_composite_implicit


def trace(call: Call, decompositions: Mapping[OpOverload, Any], *, dynamic: bool = False) -> list[fx.GraphModule]:
    """The functional graphs that `call` decomposes into, made as the compiler makes them.

    Returns:
        One graph; two, forward and backward, where a tensor of the call requires a gradient.

    Raises:
        Exception: whatever the operator raises when it has no fake implementation or reads data.
    """
    function, tensors = function_of(call)
    return capture(function, tensors, decompositions, dynamic=dynamic)


def function_of(call: Call) -> tuple[Callable[..., Any], list[torch.Tensor]]:
    """A call as a function of its tensors, and those tensors."""
    flat, spec = pytree.tree_flatten((call.args, dict(call.kwargs)))
    where = [i for i, value in enumerate(flat) if isinstance(value, torch.Tensor)]
    # above functionalization, so that what an operator made of others writes to goes too
    parts = call.overload.decompose if is_composite_implicit(call.overload) else None
    run = decomposed_above(call.overload) or parts or call.overload

    def function(*tensors: torch.Tensor) -> Any:
        values = list(flat)
        for i, tensor in zip(where, tensors, strict=True):
            values[i] = tensor
        args, kwargs = pytree.tree_unflatten(values, spec)
        return run(*args, **kwargs)

    return function, [flat[i] for i in where]


def calls_of(gm: fx.GraphModule) -> list[Call]:
    """The operator calls of a traced graph and of the regions in it, with the fake tensors that each was called with.

    What the host does itself, arithmetic on sizes, is not among them.
    """
    calls = []
    for node in gm.graph.nodes:
        if node.op == "get_attr" and isinstance(region := getattr(gm, str(node.target), None), fx.GraphModule):
            calls += calls_of(region)
        call = call_of(node)
        if call is not None and not on_host(call, node.meta.get("val")):
            calls.append(call)
    return calls


def call_of(node: fx.Node) -> Call | None:
    """The operator call that a node makes, itself or through a higher-order operator that orders or functionalizes its effects.

    Its nodes' fake values are in their places. None for arithmetic on sizes and for control flow, whose bodies are regions.
    """
    if node.op != "call_function":
        return None
    if isinstance(node.target, OpOverload):
        overload, args = node.target, node.args
    elif isinstance(node.target, HigherOrderOperator):
        place = next((i for i, a in enumerate(node.args) if isinstance(a, OpOverload)), None)
        if place is None:
            return None
        overload, args = cast(OpOverload, node.args[place]), node.args[place + 1 :]
    else:
        return None
    args, kwargs = map_arg((args, node.kwargs), lambda n: n.meta.get("val"))
    return Call(overload, tuple(args), dict(kwargs))
