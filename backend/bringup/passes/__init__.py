"""Rewrites of the FX graph, one per file, run in the order of `PIPELINE` and linted in between."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from bringup.errors import TargetError
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
    """Apply the passes in order; the graph is linted after each.

    Raises:
        TargetError: a pass gives something else than a graph module.
    """
    for step in pipeline:
        given = step(gm)
        if not isinstance(given, fx.GraphModule):
            name = getattr(step, "__qualname__", type(step).__qualname__)
            raise TargetError(f"the graph pass {name} gave {given!r}; a pass gives the graph module, changed or not")
        gm = given
        gm.graph.lint()
    return gm
