"""Compute once what does not depend on the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import fx
from torch.fx.node import map_arg

from bringup.passes.graph_queries import base_inputs, escapes, is_aten, is_pure, written_nodes
from bringup.torch_internals import suppress_tracing


@dataclass(frozen=True)
class FoldConstants:
    """Evaluate operators without inputs when the graph is compiled, up to `max_elements` elements a result.

    A result whose memory is seen from outside is computed anew at each call: the caller may write to it.
    """

    name: ClassVar[str] = "fold-constants"
    max_elements: int = 4096

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        known: dict[fx.Node, torch.Tensor] = {}
        written = written_nodes(gm.graph)
        for node in gm.graph.nodes:
            if self._foldable(node, known) and not base_inputs(node) & written:
                value = self._evaluate(node, known)
                if value is not None:
                    known[node] = value
        for node, value in known.items():
            if not escapes(node) and any(user not in known for user in node.users):
                self._replace(gm, node, value)
        return gm

    def _foldable(self, node: fx.Node, known: dict[fx.Node, torch.Tensor]) -> bool:
        value = node.meta.get("val")
        if not (is_aten(node) and is_pure(node)) or not isinstance(value, torch.Tensor):
            return False
        if value.layout is not torch.strided or any(type(s) is not int for s in value.shape) or value.is_conj():
            return False
        uninitialised = node.target in (torch.ops.aten.empty_strided.default, torch.ops.aten.empty.memory_format)
        if uninitialised or value.numel() > self.max_elements:
            return False
        return all(argument in known for argument in node.all_input_nodes)

    def _evaluate(self, node: fx.Node, known: dict[fx.Node, torch.Tensor]) -> torch.Tensor | None:
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: known[n])
        with suppress_tracing(), torch.no_grad():
            result: Any = node.target(*args, **kwargs)  # type: ignore[operator]
        return result if isinstance(result, torch.Tensor) else None

    def _replace(self, gm: fx.GraphModule, node: fx.Node, value: torch.Tensor) -> None:
        name = f"_folded_{node.name}"
        gm.register_buffer(name, value, persistent=False)
        with gm.graph.inserting_before(node):
            constant = gm.graph.get_attr(name)
        constant.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(constant)
