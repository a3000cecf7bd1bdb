"""Everything that is said of an overload, as plain data."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup.errors import OptionError
from bringup.target.call import Call
from bringup.target.registry import find_target
from bringup.target.target import Target
from bringup.target.tree import Way, tree_of
from bringup.target.verdict import Status, Verdict
from bringup.torch_internals import OpOverload, find_overload
from bringup_coverage.calls import Recipe
from bringup_coverage.catalogue import Operator, catalogue
from bringup_coverage.explain.examples import DTYPES, examples, why_no_example
from bringup_coverage.explain.nested import nested
from bringup_coverage.explain.question import Question, meant
from bringup_coverage.explain.snippet import snippet
from bringup_coverage.places import place_of
from bringup_coverage.usage import models_using


def answer(name: str, question: Question) -> dict[str, Any]:
    """What is to be said of an operator; with ``overloads`` only, each with a verdict, where it has several and no default.

    Raises:
        OptionError: there is no such operator, target or call.
    """
    operators = meant(name)
    target = find_target(question.target).with_options(optional_kernels=question.optional_kernels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(operators) == 1:
            return _explained(operators[0], target, question)
        rows = [{"operator": o.name, "schema": o.schema, "verdict": _first(o, target, question)} for o in operators]
    return {"operator": name, "target": target.name, "dtype": question.dtype, "overloads": rows}


def _first(operator: Operator, target: Target, question: Question) -> dict[str, Any] | None:
    recipe = next(iter(examples(operator.name, question.dtype)), None)
    return None if recipe is None else _plain(target.verdict(_call(recipe)))


def _explained(operator: Operator, target: Target, question: Question) -> dict[str, Any]:
    overload = find_overload(operator.name)
    assert overload is not None
    calls = examples(operator.name, question.dtype)
    if calls and question.number >= len(calls):
        raise OptionError(
            f"there is no --call {question.number} of {operator.name} in {question.dtype}: "
            f"{len(calls)} are recorded, counted from 0"
        )
    said = _facts(operator, overload, target) | {"dtype": question.dtype, "call": None}
    if not calls:
        return said | {"why_no_call": why_no_example(operator.name, question.dtype)}
    recipe = calls[question.number]
    call = _call(recipe)
    verdict = target.verdict(call)
    return said | {
        "call": {"number": question.number, "text": str(call), "source": recipe.source},
        "verdict": _plain(verdict),
        "calls": [
            {"text": str(_call(r)), "source": r.source, "verdict": _plain(target.verdict(_call(r)))} for r in calls
        ],
        "dtypes": {dtype: _in_dtype(operator.name, dtype, target) for dtype in DTYPES},
        "gradient": _gradient(overload, recipe, target),
        **_tree(call, target, verdict),
        "snippet": snippet(recipe, question),
    }


def _facts(operator: Operator, overload: OpOverload, target: Target) -> dict[str, Any]:
    """What is known without a call."""
    kernel, entry = target.kernel(overload), target.decompositions.get(overload)
    return {
        "operator": operator.name,
        "target": target.name,
        "schema": operator.schema,
        "kind": operator.kind.value,
        "tier": operator.tier,
        "tags": list(operator.tags),
        "composite": operator.composite,
        "kernel": None if kernel is None else kernel.row(),
        "entry": None if entry is None else place_of(entry).to_dict(),
        "others": list(catalogue().variants()[operator.name]),
        "models": _models(operator.name),
    }


def _models(name: str) -> list[str]:
    """The shipped models that use the operator."""
    return list(models_using(name))


def _call(recipe: Recipe) -> Call:
    overload = find_overload(recipe.overload)
    assert overload is not None
    return Call(overload, *recipe.fresh())


def _in_dtype(name: str, dtype: str, target: Target) -> dict[str, Any] | None:
    recipe = next(iter(examples(name, dtype)), None)
    return None if recipe is None else _plain(target.verdict(_call(recipe)))


def _gradient(overload: OpOverload, recipe: Recipe, target: Target) -> dict[str, Any] | None:
    """The verdict of the call with gradients; None where eager has none."""
    if overload._schema.is_mutable or not _differentiable(overload, recipe):
        return None
    call = _with_gradients(recipe)
    with torch.enable_grad():
        return _plain(target.verdict(call))


def _with_gradients(recipe: Recipe) -> Call:
    call = _call(recipe)
    for tensor in call.tensors():
        tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    return call


def _differentiable(overload: OpOverload, recipe: Recipe) -> bool:
    try:
        call = _with_gradients(recipe)
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            results = pytree.tree_leaves(overload(*call.args, **call.kwargs))
    except Exception:  # eager refuses gradients
        return False
    return any(isinstance(r, torch.Tensor) and r.requires_grad for r in results)


def _tree(call: Call, target: Target, verdict: Verdict) -> dict[str, Any]:
    """The tree, the decompositions in it, and what it contradicts."""
    try:
        tree = tree_of(target, call)
    except Exception as error:
        return {"tree": None, "tree_whole": False, "why_no_tree": f"{type(error).__name__}: {str(error)[:300]}"}
    counts: dict[OpOverload, int] = {}
    for step in tree.root.walk():
        if step.way is Way.TABLE:
            counts[step.call.overload] = counts.get(step.call.overload, 0) + 1
    used = [
        {"operator": Call(op).name, "count": n} | place_of(target.decompositions[op]).to_dict()
        for op, n in counts.items()
    ]
    bypassed = target.refuses(call) is None and verdict.status is not Status.NATIVE
    return {"tree": nested(tree.root, target), "tree_whole": tree.whole, "decompositions": used, "bypassed": bypassed}


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": verdict.status.value,
        "reason": verdict.reason.value if verdict.reason else None,
        "detail": verdict.detail,
        "through": list(verdict.through),
        "missing": list(verdict.missing),
    }
