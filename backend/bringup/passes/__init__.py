"""Rewrites of the FX graph, one per file, run in the order of `PIPELINE` and linted in between."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from bringup.passes.common_subexpressions import MergeCommonSubexpressions
from bringup.passes.constants import FoldConstants
from bringup.passes.dead_code import RemoveDeadCode
from bringup.passes.lifts import LowerLifts
from bringup.passes.no_ops import RemoveNoOps
from bringup.passes.views import JoinViews

__all__ = ["PIPELINE", "FoldConstants", "GraphPass", "JoinViews", "LowerLifts", "MergeCommonSubexpressions", "RemoveDeadCode", "RemoveNoOps", "run"]

GraphPass = Callable[[fx.GraphModule], fx.GraphModule]

PIPELINE: tuple[GraphPass, ...] = (
    LowerLifts(),
    RemoveDeadCode(),
    FoldConstants(),
    RemoveNoOps(),
    JoinViews(),
    MergeCommonSubexpressions(),
    RemoveDeadCode(),
)


def run(gm: fx.GraphModule, pipeline: tuple[GraphPass, ...] = PIPELINE) -> fx.GraphModule:
    """Apply the passes in order; the graph is linted after each."""
    for step in pipeline:
        gm = step(gm)
        gm.graph.lint()
    return gm
