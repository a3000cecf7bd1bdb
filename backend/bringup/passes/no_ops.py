"""Remove copies, views and arithmetic that change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import fx

from bringup.passes.graph_queries import base_inputs, escapes, written_nodes

aten = torch.ops.aten
_COPIES = (aten._to_copy.default, aten.clone.default)
_VIEWS = (aten.view.default, aten.expand.default, aten.slice.Tensor, aten.permute.default)
_TIMES_ONE = (aten.mul.Tensor, aten.div.Tensor)  # x * 1 and x / 1 are x, bit for bit; x + 0 is not: -0.0 + 0 is 0.0


@dataclass(frozen=True)
class RemoveNoOps:
    """Read the operand instead of a copy, view or product with one of the same dtype, shape and strides.

    A copy or product stays where its memory is seen from outside or the operand is written to.
    """

    name: ClassVar[str] = "remove-no-ops"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        written = written_nodes(gm.graph)
        for node in list(gm.graph.nodes):
            if not _candidate(node):
                continue
            source = node.args[0]
            if not isinstance(source, fx.Node) or not _same(source.meta.get("val"), node.meta.get("val")):
                continue
            if escapes(node) or (node.target not in _VIEWS and base_inputs(source) & written):
                continue
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
        return gm


def _candidate(node: fx.Node) -> bool:
    if node.op != "call_function":
        return False
    if node.target in _TIMES_ONE:
        return isinstance(node.args[1], (int, float)) and node.args[1] == 1
    return node.target in _COPIES + _VIEWS


def _same(a: Any, b: Any) -> bool:
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False
    if a.layout is not torch.strided or b.layout is not torch.strided or type(a) is not type(b):
        return False
    facts = [(t.dtype, t.device, t.is_conj(), t.is_neg(), _sizes(t.shape), _sizes(t.stride())) for t in (a, b)]
    return facts[0] == facts[1] and _sizes((a.storage_offset(),)) == _sizes((b.storage_offset(),))


def _sizes(sizes: Any) -> tuple[str, ...]:
    return tuple(map(str, sizes))
