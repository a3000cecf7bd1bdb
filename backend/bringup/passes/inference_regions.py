"""Before autograd: inference-mode regions inside a captured graph become no-grad regions.

Functionalization cannot trace views of inference tensors (they have no version counter). Entering inference mode sets
the grad mode to its opposite (c10's `InferenceMode`), so the same values and gradients come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import fx

from bringup.torch_internals import ENTER_INFERENCE_MODE, EXIT_INFERENCE_MODE, SET_GRAD_ENABLED


@dataclass(frozen=True)
class LowerInferenceRegions:
    """Enter becomes ``set_grad_enabled(not mode)``; exit restores the grad mode from before."""

    name: ClassVar[str] = "lower-inference-regions"

    def __call__(self, gm: fx.GraphModule) -> fx.GraphModule:
        enabled = torch.is_grad_enabled()
        before: dict[fx.Node, bool] = {}
        for node in list(gm.graph.nodes):
            if node.target is SET_GRAD_ENABLED:
                enabled = bool(node.args[0])
            elif node.target is ENTER_INFERENCE_MODE:
                before[node], enabled = enabled, not node.args[0]
                node.target, node.args = SET_GRAD_ENABLED, (enabled,)
            elif node.target is EXIT_INFERENCE_MODE:
                enabled = before[node.args[0]]
                node.target, node.args = SET_GRAD_ENABLED, (enabled,)
        if before:
            gm.recompile()
        return gm
