"""Rewrites of the FX graph, one per file, run in the order of `PIPELINE` and linted in between."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from bringup.passes.attention_regions import InlineAttentionRegions
from bringup.passes.common_subexpressions import MergeCommonSubexpressions
from bringup.passes.constants import FoldConstants
from bringup.passes.dead_code import RemoveDeadCode
from bringup.passes.inference_regions import LowerInferenceRegions
from bringup.passes.late_decompositions import DecomposeLate
from bringup.passes.lifts import LowerLifts
from bringup.passes.no_ops import RemoveNoOps
from bringup.passes.views import JoinViews

__all__ = [
    "BEFORE_AUTOGRAD",
    "PIPELINE",
    "DecomposeLate",
    "FoldConstants",
    "GraphPass",
    "InlineAttentionRegions",
    "JoinViews",
    "LowerInferenceRegions",
    "LowerLifts",
    "MergeCommonSubexpressions",
    "RemoveDeadCode",
    "RemoveNoOps",
    "run",
]

GraphPass = Callable[[fx.GraphModule], fx.GraphModule]

BEFORE_AUTOGRAD: tuple[GraphPass, ...] = (LowerInferenceRegions(),)
"""Rewrites of the graph as Dynamo captured it, before AOTAutograd traces it."""

PIPELINE: tuple[GraphPass, ...] = (
    LowerLifts(),
    RemoveDeadCode(),
    FoldConstants(),
    RemoveNoOps(),
    JoinViews(),
    MergeCommonSubexpressions(),
    RemoveDeadCode(),
)
"""Rewrites of the functional ATen graph, before it is lowered."""


def run(gm: fx.GraphModule, pipeline: tuple[GraphPass, ...] = PIPELINE) -> fx.GraphModule:
    """Apply the passes in order; the graph is linted after each."""
    for step in pipeline:
        gm = step(gm)
        gm.graph.lint()
    return gm
