"""The evidence for one overload: its calls put to the target's verdict, and run against eager."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup.target.call import Call
from bringup.target.registry import find_target
from bringup.target.target import Target
from bringup.target.verdict import Reason, Status, Verdict
from bringup.torch_internals import OpOverload, find_overload
from bringup_coverage.calls import Recipe, recipes, why_none
from bringup_coverage.experiment import Finding
from bringup_coverage.scan.blame import judged
from bringup_coverage.scan.forms import functional_form
from bringup_coverage.scan.running import experiment, run

ORDER = (Status.NONE, Status.DECOMPOSED, Status.NATIVE)
"""From worst to best; an overload is what the worst of its calls is."""


_PYTORCHS = (Reason.UNTRACEABLE, Reason.DATA_DEPENDENT)
"""Reasons that lie in PyTorch's tracing, whatever the target."""
_CALLS = {"traced": 2, "run": 3}


@dataclass(frozen=True)
class Settings:
    """What a scan gathers. Two scans with equal settings, target and code give the same report.

    Attributes:
        target: as `bringup.target.registry.find_target` takes it.
        level: declared, traced or run.
        dtypes: the first that has calls decides the verdict; the others show in the report beside it.
        calls: calls of the first dtype for each overload; the others have one. None: two that are traced, three that are run.
        gradient: put calls with gradients to the test too.
        dynamic: put a call with symbolic sizes to the test too; not of an overload with a functional form, which is what
            functionalization makes of it.
        optional_kernels: use the target's optional kernels.
    """

    target: str = "sim"
    level: str = "traced"
    dtypes: tuple[str, ...] = ("float32", "bfloat16", "int64", "bool", "complex64")
    calls: int | None = None
    gradient: bool = True
    dynamic: bool = True
    optional_kernels: bool = True


@dataclass
class Evidence:
    """What the calls of one overload gave; plain data, so that it can be stored."""

    name: str
    statuses: dict[str, list[str]] = field(default_factory=dict)
    reason: str | None = None
    detail: str = ""
    through: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    ran: int = 0
    ran_dtypes: list[str] = field(default_factory=list)
    worst_error: float | None = None
    dynamic: bool | None = None
    gradient: bool | None = None
    problems: list[str] = field(default_factory=list)
    no_call: str = ""
    untraced: dict[str, tuple[str, str]] = field(default_factory=dict)
    base: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))


def examine(name: str, settings: Settings) -> Evidence:
    """Gather the evidence for one overload; what goes wrong in a call is a row of the evidence, not the end of the scan."""
    found = Evidence(name)
    target = find_target(settings.target).with_options(optional_kernels=settings.optional_kernels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        overload, base = find_overload(name), settings.dtypes[0]
        assert overload is not None
        runnable = []
        for dtype in settings.dtypes:
            for recipe in _recipes(name, dtype, (settings.calls or _CALLS[settings.level]) if dtype == base else 1):
                if _judge(found, overload, recipe, target, settings):
                    runnable.append(recipe)
        if settings.level == "run":
            for recipe, finding in run(overload, runnable, _options(settings)):
                _note_run(found, recipe, finding)
    for dtype, (reason, detail) in found.untraced.items():
        if dtype in found.statuses:
            found.problems.append(f"{dtype}: PyTorch cannot trace another call: {detail}")
            continue
        found.statuses[dtype] = [Status.NONE.value]  # there is no other call: then that is the verdict
        if dtype == found.base:
            found.reason, found.detail = reason, detail
    if not found.statuses:
        found.no_call = why_none(name)
    return found


def _recipes(name: str, dtype: str, limit: int) -> Iterator[Recipe]:
    try:
        yield from recipes(name, dtype, limit)
    except Exception as error:
        raise RuntimeError(f"the calls of {name} in {dtype} could not be made: {error}") from error


def _judge(found: Evidence, overload: OpOverload, recipe: Recipe, target: Target, settings: Settings) -> bool:
    """Note the verdict on a call; for a yes also, once an overload, what gradients and symbolic sizes give."""
    found.base = found.base or recipe.dtype
    args, kwargs = recipe.fresh()
    verdict = target.verdict(Call(overload, args, kwargs))
    _note(found, recipe, verdict)
    if verdict and recipe.dtype == found.base:
        if settings.gradient and found.gradient is None:
            found.gradient = _gradient(found, overload, recipe, target, settings)
        if settings.dynamic and found.dynamic is None and functional_form(recipe.overload) is None:
            found.dynamic = _dynamic(found, overload, recipe, target, settings)
    return bool(verdict)


def _note(found: Evidence, recipe: Recipe, verdict: Verdict) -> None:
    """Add a call's verdict; the worst call of the dtype `base` decides the overload's reason and kernels.

    A call that PyTorch cannot trace for any backend decides only where there is no other.
    """
    if recipe.source not in found.sources:
        found.sources.append(recipe.source)
    if verdict.reason in _PYTORCHS:
        found.untraced.setdefault(recipe.dtype, (str(verdict.reason and verdict.reason.value), verdict.detail))
        return
    found.statuses.setdefault(recipe.dtype, []).append(verdict.status.value)
    if recipe.dtype != found.base:
        return
    found.through = sorted({*found.through, *verdict.through})
    found.missing = sorted({*found.missing, *verdict.missing})
    if verdict.reason is not None and found.reason is None:
        found.reason, found.detail = verdict.reason.value, verdict.detail


def _options(settings: Settings) -> dict[str, Any]:
    """What the calls are compiled with."""
    return {"target": settings.target, "optional_kernels": settings.optional_kernels, "fallback": "host"}


def _note_run(found: Evidence, recipe: Recipe, finding: Finding) -> None:
    """Add what running a call gave."""
    if finding.status != "pass":
        found.problems.append(f"{recipe.dtype}: {finding.status}: {finding.detail}")
        return
    found.ran += 1
    if recipe.dtype not in found.ran_dtypes:
        found.ran_dtypes.append(recipe.dtype)
    if finding.error is not None:
        found.worst_error = max(found.worst_error or 0.0, finding.error)


def _gradient(found: Evidence, overload: OpOverload, recipe: Recipe, target: Target, settings: Settings) -> bool | None:
    """Whether the gradients of the call are right (run) or run at all (traced); None where eager has none."""
    trial = experiment(overload, [recipe], _options(settings), backward=True)
    if overload._schema.is_mutable or not trial.differentiable():
        return None
    if settings.level == "run":
        finding = judged(trial)
        if finding.status != "pass":
            found.problems.append(f"gradient: {finding.status}: {finding.detail}")
        return finding.status == "pass"
    args, kwargs = recipe.fresh()
    for tensor in pytree.tree_leaves((list(args), kwargs)):
        if isinstance(tensor, torch.Tensor):
            tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    with torch.enable_grad():
        verdict = target.verdict(Call(overload, args, kwargs))
    if not verdict:
        found.problems.append(f"gradient: {verdict}")
    return bool(verdict)


def _dynamic(found: Evidence, overload: OpOverload, recipe: Recipe, target: Target, settings: Settings) -> bool:
    """Whether the call is right (run) or has a verdict (traced) with symbolic sizes."""
    if settings.level == "run":
        finding = judged(experiment(overload, [recipe], _options(settings), dynamic=True))
        if finding.status != "pass":
            found.problems.append(f"dynamic: {finding.status}: {finding.detail}")
        return finding.status == "pass"
    args, kwargs = recipe.fresh()
    verdict = target.verdict(Call(overload, args, kwargs), dynamic=True)
    if not verdict:
        found.problems.append(f"dynamic: {verdict}")
    return bool(verdict)


def summary(found: Evidence, base: str) -> tuple[str, str | None, str]:
    """Status, reason and detail of an overload from its calls: the worst call of the dtype `base` decides, differences are said."""
    counts = Counter(found.statuses[base])
    status = next(s.value for s in ORDER if counts[s.value])
    detail = found.detail if status == Status.NONE.value else ""
    if len(counts) > 1:
        mixed = ", ".join(f"{n} {s}" for s, n in counts.items())
        detail = f"{detail} (its calls differ: {mixed})".strip()
    return status, found.reason if status == Status.NONE.value else None, detail
