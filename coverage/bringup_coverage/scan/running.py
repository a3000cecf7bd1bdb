"""Calls of an overload, run against eager: all of a kind in one graph, one by one where that one is not right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup.torch_internals import OpOverload
from bringup_coverage.calls import Recipe
from bringup_coverage.experiment import Experiment, Finding
from bringup_coverage.probe import UNINITIALISED
from bringup_coverage.scan.blame import attributed, judged


def experiment(overload: OpOverload, recipes: Sequence[Recipe], options: dict[str, Any], **more: Any) -> Experiment:
    """Calls of one overload, one after the other, as a function of all their tensors.

    It returns their results and, where the overload writes to its arguments, the tensors too.

    Args:
        overload: the operator.
        recipes: its calls.
        options: of the compiler.
        more: attributes of the experiment, such as ``backward=True``.
    """
    calls = [pytree.tree_flatten((list(r.args), r.kwargs)) for r in recipes]
    places = [[i for i, v in enumerate(flat) if isinstance(v, torch.Tensor)] for flat, _ in calls]
    writes = overload._schema.is_mutable

    def function(*tensors: torch.Tensor) -> Any:
        given, results = iter(tensors), []
        for (flat, spec), where in zip(calls, places, strict=True):
            values = list(flat)
            for i in where:
                values[i] = next(given)
            args, kwargs = pytree.tree_unflatten(values, spec)
            results.append(overload(*args, **kwargs))
        return (results, tensors) if writes else results

    def copies() -> list[torch.Tensor]:
        leaves = pytree.tree_leaves([(list(args), kwargs) for args, kwargs in (r.fresh() for r in recipes)])
        tensors = [v for v in leaves if isinstance(v, torch.Tensor)]
        if not more.get("backward"):
            return tensors
        return [t.requires_grad_(t.is_floating_point() or t.is_complex()) for t in tensors]

    name = overload.name().partition("::")[2].partition(".")[0].removesuffix("_")
    uninitialised = name in UNINITIALISED or name.startswith(("resize", "empty"))
    return Experiment(function, [], options, copies=copies, metadata_only=uninitialised, **more)


def run(overload: OpOverload, recipes: Sequence[Recipe], options: dict[str, Any]) -> list[tuple[Recipe, Finding]]:
    """What each call gave. Calls that are right together are right; where one is not, each is run by itself."""
    if len(recipes) > 1:
        together = experiment(overload, recipes, options).run()
        if together.status == "pass":
            return [(r, together) for r in recipes]
    return [(r, _alone(overload, r, options)) for r in recipes]


def _alone(overload: OpOverload, recipe: Recipe, options: dict[str, Any]) -> Finding:
    """What a call gave by itself; one whose sizes depend on data is run with symbolic sizes."""
    trial = experiment(overload, [recipe], options)
    finding = trial.run()
    if finding.status == "untraceable" and "eager itself" not in finding.detail:
        return judged(replace(trial, dynamic=True))
    return attributed(trial, finding)
