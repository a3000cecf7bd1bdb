"""Constants of the traced function enter the graph through lift operators; what follows tracing sees plain copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import fx

aten = torch.ops.aten


@dataclass(frozen=True)
class LowerLifts:
    """``lift_fresh_copy`` of a constant becomes ``clone``: the caller may write to the result, never to the constant."""

    name: ClassVar[str] = "lower-lifts"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        for node in gm.graph.nodes:
            if node.op == "call_function" and node.target is aten.lift_fresh_copy.default:
                node.target = aten.clone.default
        return gm
