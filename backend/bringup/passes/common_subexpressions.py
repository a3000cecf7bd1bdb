"""Compute equal expressions once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import fx

from bringup.passes.graph_queries import base_inputs, escapes, is_aten, is_pure, written_nodes


@dataclass(frozen=True)
class MergeCommonSubexpressions:
    """Replace a pure operator by an earlier equal one, unless the memory of both is seen from outside."""

    name: ClassVar[str] = "merge-common-subexpressions"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        written = written_nodes(gm.graph)
        first: dict[Any, fx.Node] = {}
        for node in list(gm.graph.nodes):
            if not (is_aten(node) and is_pure(node)) or _reads(node) & written:
                continue
            key = (node.target, _key(node.args), _key(tuple(sorted(node.kwargs.items()))))
            earlier = first.setdefault(key, node)
            if earlier is node or (escapes(node) and escapes(earlier)):
                continue
            node.replace_all_uses_with(earlier)
            gm.graph.erase_node(node)
        return gm


def _reads(node: fx.Node) -> set[fx.Node]:
    """The node and everything whose memory it reads: two reads with a write between them are not equal."""
    return {node}.union(*(base_inputs(argument) for argument in node.all_input_nodes))


def _key(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_key(v) for v in value)
    if isinstance(value, fx.Node):
        return value
    return (type(value).__name__, repr(value))
