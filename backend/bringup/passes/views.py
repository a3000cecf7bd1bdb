"""Join chains of views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import fx

aten = torch.ops.aten


@dataclass(frozen=True)
class JoinViews:
    """``view(view(x, a), b)`` reads ``view(x, b)``; ``permute(permute(x, p), q)`` reads one permutation."""

    name: ClassVar[str] = "join-views"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        for node in gm.graph.nodes:
            source = node.args[0] if node.op == "call_function" and node.args else None
            if not isinstance(source, fx.Node) or source.target is not node.target:
                continue
            if node.target is aten.view.default and _contiguous(source.args[0]):
                node.args = (source.args[0], node.args[1])
            elif node.target is aten.permute.default:
                inner, outer = source.args[1], node.args[1]
                node.args = (source.args[0], [inner[d] for d in outer])  # type: ignore[index, union-attr]
        return gm


def _contiguous(value: object) -> bool:
    tensor = value.meta.get("val") if isinstance(value, fx.Node) else None
    static = isinstance(tensor, torch.Tensor) and all(type(s) is int for s in tensor.shape)
    return static and tensor.layout is torch.strided and tensor.is_contiguous()  # type: ignore[union-attr]
