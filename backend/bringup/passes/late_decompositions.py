"""What enters a graph after tracing goes through the target's table too.

With dynamic shapes AOTAutograd turns arithmetic on symbolic numbers into tensor arithmetic once the graph is traced, with operators
that no decomposition table was asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from bringup.passes.splice import copy_into
from bringup.torch_internals import OpOverload, is_composite_implicit, trace_with_fakes

UNTRACEABLE = "bringup_untraceable"
"""The key under which a node's ``meta`` says why its decomposition could not be traced."""


@dataclass(frozen=True)
class DecomposeLate:
    """Replace each call that no kernel of the target runs, and that its table has an entry for, by what the entry computes.

    Attributes:
        table: the target's decompositions.
        runs: whether a kernel of the target takes an overload with these arguments.
    """

    name: ClassVar[str] = "decompose-late"
    table: Mapping[OpOverload, Callable[..., Any]]
    runs: Callable[[OpOverload, tuple[Any, ...], dict[str, Any]], bool]

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        changed = False
        for node in list(gm.graph.nodes):
            if self._wanted(node):
                changed |= self._replace(gm, node)
        if changed:
            gm.recompile()
        return gm

    def _wanted(self, node: fx.Node) -> bool:
        overload = node.target
        if node.op != "call_function" or not isinstance(overload, OpOverload):
            return False
        if overload not in self.table and not is_composite_implicit(overload):
            return False
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: n.meta.get("val"))
        return not self.runs(overload, tuple(args), dict(kwargs))

    def _replace(self, gm: fx.GraphModule, node: fx.Node) -> bool:
        """Whether the table's entry led anywhere: what cannot be traced, or comes back to the call itself, stays."""
        flat, spec = pytree.tree_flatten((node.args, node.kwargs))
        where = [i for i, value in enumerate(flat) if isinstance(value, fx.Node)]
        if any(flat[i].meta.get("val") is None for i in where):
            return False
        overload: Any = node.target

        def call(*values: Any) -> Any:
            full = list(flat)
            for i, value in zip(where, values, strict=True):
                full[i] = value
            args, kwargs = pytree.tree_unflatten(full, spec)
            return overload(*args, **kwargs)

        try:
            body = trace_with_fakes(call, [flat[i].meta["val"] for i in where], self.table)
        except Exception as error:  # the lowering reports the call itself, with this reason
            node.meta[UNTRACEABLE] = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            return False
        if any(inner.target is overload for inner in body.graph.nodes):
            return False
        with gm.graph.inserting_before(node):
            result = copy_into(gm, body, [flat[i] for i in where], node)
        _hand_over(gm, node, result)
        return True


def _hand_over(gm: fx.GraphModule, node: fx.Node, result: Any) -> None:
    """Give a node's users its replacement: a node, a list of them that users take apart, or a number."""
    if isinstance(result, fx.Node):
        node.replace_all_uses_with(result)
    elif isinstance(result, (list, tuple)):
        parts: Sequence[Any] = result
        for user in list(node.users):
            place: Any = user.args[1]
            user.replace_all_uses_with(parts[place])
            gm.graph.erase_node(user)
    else:  # a size that is the same for all inputs, such as that of a dimension of one element

        def plain(value: fx.Node) -> Any:
            return result if value is node else value

        for user in list(node.users):
            user.args, user.kwargs = map_arg(user.args, plain), map_arg(user.kwargs, plain)
    gm.graph.erase_node(node)
