"""Put a traced body into a graph in place of one node."""

from __future__ import annotations

from typing import Any

from torch import fx
from torch.fx.node import map_arg


def copy_into(gm: fx.GraphModule, body: fx.GraphModule, operands: list[fx.Node], like: fx.Node) -> Any:
    """Copy a traced body's nodes in front of `like`; returns the body's output in terms of the outer graph's nodes."""
    waiting = iter(operands)
    copied: dict[fx.Node, Any] = {}
    for inner in body.graph.nodes:
        if inner.op == "placeholder":
            copied[inner] = next(waiting)
        elif inner.op == "output":
            return map_arg(inner.args[0], lambda n: copied[n])
        else:
            new = gm.graph.node_copy(inner, lambda n: copied[n])
            if inner.op == "get_attr":
                new.target = f"{like.name}_{inner.target}"
                value = getattr(body, str(inner.target))
                setattr(gm, new.target, value)
            new.meta["stack_trace"] = like.meta.get("stack_trace")
            copied[inner] = new
    return ()
