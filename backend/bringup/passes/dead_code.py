"""Remove what nothing reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import fx

from bringup.passes.graph_queries import is_aten, is_pure


@dataclass(frozen=True)
class RemoveDeadCode:
    """Erase pure operators whose results nothing reads; random operators stay, since eager advances the stream too."""

    name: ClassVar[str] = "remove-dead-code"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        for node in reversed(gm.graph.nodes):
            removable = node.op == "get_attr" or (is_pure(node) and (is_aten(node) or not _is_operator(node)))
            if removable and not node.users:
                gm.graph.erase_node(node)
        return gm


def _is_operator(node: fx.Node) -> bool:
    return hasattr(node.target, "_schema")
