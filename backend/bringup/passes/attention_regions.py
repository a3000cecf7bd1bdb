"""Flex attention onto the target's kernels: its dense form is traced, score and mask functions included, and inlined.

Left as it is, the higher-order operator would run its dense form on the host, past the target's table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import fx
from torch.utils import _pytree as pytree

from bringup.passes.splice import copy_into
from bringup.torch_internals import HigherOrderOperator, OpOverload, dense_form, trace_with_fakes


@dataclass(frozen=True)
class InlineAttentionRegions:
    """Replace flex attention by its dense form, decomposed by `decompositions`."""

    name: ClassVar[str] = "inline-attention-regions"
    decompositions: Mapping[OpOverload, Callable[..., Any]] = field(default_factory=dict)

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        changed = False
        for node in list(gm.graph.nodes):
            form = dense_form(node.target) if isinstance(node.target, HigherOrderOperator) else None
            if form is not None:
                self._inline(gm, node, form)
                changed = True
        if changed:
            gm.recompile()
        return gm

    def _inline(self, gm: fx.GraphModule, node: fx.Node, form: Callable[..., Any]) -> None:
        flat, spec = pytree.tree_flatten((node.args, node.kwargs))
        operands = [i for i, v in enumerate(flat) if isinstance(v, fx.Node) and not _is_region(gm, v)]

        def dense(*values: Any) -> Any:
            full = [_region(gm, v) if isinstance(v, fx.Node) else v for v in flat]
            for i, value in zip(operands, values, strict=True):
                full[i] = value
            args, kwargs = pytree.tree_unflatten(full, spec)
            return form(*args, **kwargs)

        body = trace_with_fakes(dense, [flat[i].meta["val"] for i in operands], self.decompositions)
        with gm.graph.inserting_before(node):
            result = copy_into(gm, body, [flat[i] for i in operands], node)
        for user in list(node.users):  # the operator returns a tuple, which is only ever taken apart
            user.replace_all_uses_with(result[user.args[1]])
            gm.graph.erase_node(user)
        gm.graph.erase_node(node)


def _is_region(gm: fx.GraphModule, node: fx.Node) -> bool:
    return node.op == "get_attr" and isinstance(getattr(gm, str(node.target), None), torch.nn.Module)


def _region(gm: fx.GraphModule, node: fx.Node) -> Any:
    return getattr(gm, str(node.target)) if _is_region(gm, node) else node
