"""One overload on a backend of which nothing is known: what its calls give, and what they run on the host meanwhile."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup.torch_internals import OpOverload, draws_random_numbers, find_overload
from bringup_coverage.calls import Recipe, recipes, why_none
from bringup_coverage.catalogue import catalogue
from bringup_coverage.experiment import Experiment, Finding
from bringup_coverage.probe import UNINITIALISED
from bringup_coverage.scan.blame import judged
from bringup_coverage.scan.examine import ORDER, Evidence
from bringup_coverage.scan.observed import GraphCompiler, Observed

REASONS = {"fail": "wrong-result", "error": "backend-error", "fallback": "host-fallback", "untraceable": "untraceable"}
"""The reason for a verdict of none by what an experiment found."""

LITERALS = (int, float, bool, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)


@dataclass(frozen=True)
class Outcome:
    """What one call gave."""

    recipe: Recipe
    finding: Finding
    status: str
    detail: str
    through: tuple[str, ...] = ()

    @property
    def reason(self) -> str | None:
        """Why the verdict is none."""
        return REASONS.get(self.finding.status)


def examine(
    name: str, backend: GraphCompiler, *, dtypes: tuple[str, ...], calls: int, gradient: bool, dynamic: bool
) -> dict[str, Any]:
    """The row of one overload; calls that PyTorch cannot trace do not count as long as there are others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [r for d in dtypes for r in recipes(name, d, calls if d == dtypes[0] else 1)]
        outcomes = [_outcome(recipe, backend) for recipe in made]
        row = _row(name, outcomes)
        passed = next((o for o in outcomes if o.status != "none"), None)
        if passed is not None:
            if gradient and not _overload(passed.recipe)._schema.is_mutable:
                row["gradient"] = _also(row, "gradient", passed.recipe, backend, backward=True)
            if dynamic:
                row["dynamic"] = _also(row, "dynamic", passed.recipe, backend, dynamic=True)
    return row


def _outcome(recipe: Recipe, backend: GraphCompiler) -> Outcome:
    observed = Observed(backend)
    experiment = _experiment(recipe, observed)
    finding = judged(experiment)
    if finding.status != "pass":
        return Outcome(recipe, finding, "none", finding.detail)
    if not observed.graphs:
        return Outcome(
            recipe, finding, "decomposed", "Dynamo answers it while it traces: the backend sees nothing of it"
        )
    ran = observed.runs_on_host(experiment)
    return Outcome(recipe, finding, *how(recipe.overload, ran))


def how(name: str, ran: frozenset[str]) -> tuple[str, str, tuple[str, ...]]:
    """Status, detail and kernels of a call whose results are eager's, by the operators that it ran on the host meanwhile.

    An operator that only makes memory, or another view of it, computes nothing; it counts where the call itself is a view.
    """
    operators = catalogue().operators
    own = operators[name]
    known = {n: operators[n] for n in ran if n in operators}
    counted = {n for n in ran if _packet(n) not in UNINITIALISED and (own.view or n not in known or not known[n].view)}
    if any(n in known and known[n].family == own.family for n in ran):
        return "native", f"through eager's own kernel: {', '.join(sorted(ran))} ran on the host", ()
    if not ran:
        return "native", "by the backend's own code: no PyTorch operator ran on the host", ()
    if not counted:
        return (
            "native",
            f"no PyTorch operator computed on the host; memory or views were made by {', '.join(sorted(ran))}",
            (),
        )
    return "decomposed", "through other operators, which ran on the host", tuple(sorted(counted))


def _row(name: str, outcomes: list[Outcome]) -> dict[str, Any]:
    judged = [o for o in outcomes if o.finding.status != "untraceable"] or outcomes
    row = Evidence(name).to_dict() | {"case": name, "status": "none", "reason": None}
    if not judged:
        return row | {"no_call": why_none(name)}
    base = [o for o in judged if o.recipe.dtype == judged[0].recipe.dtype]
    worst = min(base, key=lambda o: [s.value for s in ORDER].index(o.status))
    for outcome in judged:
        row["statuses"].setdefault(outcome.recipe.dtype, []).append(outcome.status)
    mixed = {s: sum(o.status == s for o in base) for s in sorted({o.status for o in base})}
    differ = f" (its calls differ: {', '.join(f'{n} {s}' for s, n in mixed.items())})" if len(mixed) > 1 else ""
    ran = [o for o in judged if o.finding.status == "pass"]
    errors = [o.finding.error for o in ran if o.finding.error is not None]
    return row | {
        "status": worst.status,
        "reason": worst.reason,
        "detail": worst.detail + differ,
        "through": sorted({n for o in base for n in o.through}),
        "sources": sorted({o.recipe.source for o in judged}),
        "ran": len(ran),
        "ran_dtypes": list(dict.fromkeys(o.recipe.dtype for o in ran)),
        "worst_error": max(errors, default=None),
        "problems": [
            f"{o.recipe.dtype}: {o.finding.status}: {o.detail}" for o in outcomes if o.finding.status != "pass"
        ],
    }


def _also(row: dict[str, Any], label: str, recipe: Recipe, backend: GraphCompiler, **how: bool) -> bool | None:
    """Whether the call holds with gradients, or with symbolic sizes; None where PyTorch has none or cannot trace it."""
    observed = Observed(backend)
    experiment = _experiment(recipe, observed, **how)
    if experiment.backward and not experiment.differentiable():
        return None
    finding = judged(experiment)
    if finding.status == "pass":
        return True
    row["problems"].append(f"{label}: {finding.status}: {finding.detail}")
    if finding.status == "untraceable":
        return None
    if row["status"] != "none":
        row |= {"status": "none", "reason": REASONS[finding.status], "detail": f"{label}: {finding.detail}"}
    return False


def _overload(recipe: Recipe) -> OpOverload:
    overload = find_overload(recipe.overload)
    assert overload is not None
    return overload


def _packet(name: str) -> str:
    return name.partition("::")[2].partition(".")[0].removesuffix("_")


def _experiment(recipe: Recipe, compiler: Observed, *, backward: bool = False, dynamic: bool = False) -> Experiment:
    """The call as a graph of its tensors that gives its results and what it wrote to; everything else is a constant."""
    overload, graph, root = _overload(recipe), torch.fx.Graph(), torch.nn.Module()
    inputs: list[torch.fx.Node] = []

    def constant(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            inputs.append(graph.placeholder(f"tensor_{len(inputs)}"))
            return inputs[-1]
        if isinstance(value, LITERALS):
            return value
        name = f"constant_{len(root.__dict__)}"
        setattr(root, name, value)
        return graph.get_attr(name)

    def copies() -> list[torch.Tensor]:
        tensors = [v for v in pytree.tree_leaves(_flat(recipe.fresh())) if isinstance(v, torch.Tensor)]
        if not backward:
            return tensors
        return [t.requires_grad_(t.is_floating_point() or t.is_complex()) for t in tensors]

    args, kwargs = pytree.tree_map(constant, _flat((recipe.args, recipe.kwargs)))
    result = graph.call_function(overload, tuple(args), kwargs)
    graph.output((result, inputs) if overload._schema.is_mutable else result)
    packet = _packet(recipe.overload)
    return Experiment(
        torch.fx.GraphModule(
            root, graph
        ).forward,  # a module's call would explain an error, and Dynamo stumble over that
        [],
        {},
        backward=backward,
        dynamic=dynamic,
        metadata_only=packet in UNINITIALISED or packet.startswith(("resize", "empty")),
        copies=copies,
        compiler=compiler,
        random=draws_random_numbers(overload),
    )


def _flat(call: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[list[Any], dict[str, Any]]:
    return list(call[0]), call[1]
