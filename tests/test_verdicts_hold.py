"""What a verdict says is what compiling the call does: hundreds of overloads at random. BRINGUP_SEED draws others."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from bringup import (
    Call,
    Engine,
    Kernel,
    Reason,
    Status,
    Target,
    UnsupportedOperatorError,
    Verdict,
    compile_function,
    find_target,
    recording,
)
from bringup.target.leaves import leaf_calls
from bringup.target.trace import calls_of, function_of, trace
from bringup.torch_internals import differentiated_by_rules, find_overload, shadow_inputs
from bringup_coverage.calls import recipes
from bringup_coverage.calls.index import index
from bringup_coverage.catalogue import Kind, catalogue
from bringup_coverage.pool import run_isolated
from bringup_coverage.scan import WITHOUT_CALLS

COUNT = 300
SEED = int(os.environ.get("BRINGUP_SEED", "0"))


def sim() -> Target:
    """The simulated accelerator."""
    return find_target("sim")


@cache
def rows_for_everything() -> Target:
    """A target with a row for every overload, those too that PyTorch rewrites before it asks for a kernel."""
    takes = frozenset(v for v in vars(torch).values() if isinstance(v, torch.dtype))
    missing = [n for n in catalogue().operators if n not in sim().rows]
    return sim().with_kernels(Kernel(n, Engine.VECTOR, takes, required=False) for n in missing)


def names(count: int) -> list[str]:
    """So many overloads that have calls."""
    known = index("float32")
    all_ = [
        n for n, o in catalogue().operators.items() if o.tier not in WITHOUT_CALLS and n in known and known[n].calls
    ]
    return random.Random(SEED).sample(all_, count)


def verdict_of(name: str, targets: Callable[[], Target] = sim) -> tuple[str, Verdict]:
    """The verdict of an overload's first call."""
    warnings.simplefilter("ignore")
    return name, targets().verdict(Call(overload_of(name), *recipes(name, "float32", 1)[0].fresh()))


def overload_of(name: str) -> Any:
    """The overload, which this torch has."""
    overload = find_overload(name)
    assert overload is not None
    return overload


def contradiction(judged: tuple[str, Verdict], targets: Callable[[], Target] = sim) -> str:
    """How compiling an overload's first call contradicts its verdict; empty where it does not."""
    name, verdict = judged
    warnings.simplefilter("ignore")
    function, tensors = function_of(Call(overload_of(name), *recipes(name, "float32", 1)[0].fresh()))
    try:
        with recording() as report, torch.no_grad():
            run_compiled(function, tensors, targets(), dynamic=False)
    except Exception as error:
        return f"{name}: {verdict}, but {type(error).__name__}: {error}" if verdict else ""
    used = {i.operation for p in report.programs for i in p.walk()}
    device = {operation for operation in used if not operation.startswith("check::")}  # checks are the host's
    if not verdict:
        return f"{name}: {verdict}, but it compiles"
    if verdict.status is Status.NATIVE and name not in used:
        return f"{name}: native, but the program has {sorted(used)}"
    if verdict.status is Status.DECOMPOSED and device and not set(verdict.through) & device:
        return f"{name}: {verdict}, but the program has {sorted(used)}"
    return ""


def died(judged: tuple[str, Verdict], *how: str) -> str:
    """A call that kills its process when it is compiled contradicts a verdict that it runs."""
    return f"{judged[0]}: {judged[1]}, but compiling it ends in {how}" if judged[1] else ""


def run_compiled(function: Any, tensors: list[torch.Tensor], target: Target, *, dynamic: bool) -> Any:
    """Compile without fallback and run; sizes that depend on data are asked for again with symbols, as the verdict does."""
    try:
        return compile_function(function, options={"fallback": "error", "target": target}, dynamic=dynamic)(*tensors)
    except UnsupportedOperatorError:
        raise
    except Exception:
        if dynamic:
            raise
        return run_compiled(function, tensors, target, dynamic=True)


def test_no_verdict_is_contradicted_by_compiling() -> None:
    """Native calls are one kernel, decomposed ones run without the host, and what has no verdict does not compile."""
    compile_function(torch.neg)(torch.ones(2))
    jobs = min(2, os.cpu_count() or 1)
    killed = Verdict(Status.NONE, Reason.UNTRACEABLE, "PyTorch dies when it traces it")
    judged = list(run_isolated(names(COUNT), verdict_of, lambda n, *_: (n, killed), jobs=jobs, timeout=60.0))
    found = list(run_isolated(judged, contradiction, died, jobs=jobs, timeout=120.0))
    assert len(found) == COUNT
    assert {v.status for _, v in judged} == set(Status)
    assert sum(v is killed for _, v in judged) <= 2
    assert [said for said in found if said] == []


def test_a_row_is_native_only_where_a_program_uses_it() -> None:
    """Composites, in-place and out= forms are rewritten above the device: their verdict is what they are rewritten into."""
    operators = catalogue().operators
    rewritten = [
        n for n in names(1500) if operators[n].composite == "implicit" or operators[n].kind is not Kind.FUNCTIONAL
    ]
    chosen = random.Random(SEED).sample(rewritten, 60)
    jobs = min(2, os.cpu_count() or 1)
    killed = Verdict(Status.NONE, Reason.UNTRACEABLE, "PyTorch dies when it traces it")
    judge, hold = partial(verdict_of, targets=rows_for_everything), partial(contradiction, targets=rows_for_everything)
    judged = list(run_isolated(chosen, judge, lambda n, *_: (n, killed), jobs=jobs, timeout=60.0))
    assert sum(v.status is Status.DECOMPOSED for _, v in judged) >= 40
    assert [said for said in run_isolated(judged, hold, died, jobs=jobs, timeout=120.0) if said] == []


@pytest.mark.parametrize("dynamic", [False, True])
def test_watching_finds_the_leaves_that_tracing_finds(dynamic: bool) -> None:
    """The quick way to a verdict sees what the compiler's graphs hold, wherever it settles a verdict."""
    table = find_target("sim").table
    settled = 0
    for name in random.Random(SEED + 1).sample(names(COUNT), 30):
        recipe = recipes(name, "float32", 1)[0]
        call = partial(Call, overload_of(name))
        try:
            watched = leaf_calls(*function_of(call(*recipe.fresh())), table, dynamic=dynamic)
            graphs = trace(call(*recipe.fresh()), table, dynamic=dynamic)
        except Exception:  # it settles nothing: the other way decides
            continue
        settled += 1
        leaves = [c for g in graphs for c in calls_of(g)]
        if dynamic:  # arithmetic on sizes, which has no dimensions, is decomposed after the graph is traced
            leaves, watched = ([c for c in cs if any(t.dim() for t in c.tensors())] for cs in (leaves, watched))
        slow, quick = {c.name for c in leaves}, {c.name for c in watched}
        assert slow <= quick, name
        assert len(quick - slow) <= 2, (name, quick - slow)
    assert settled >= 20


def test_shadows_find_the_leaves_that_fakes_find() -> None:
    """Where shadows give an answer at all, which is most of the time, every call is the one that fakes end in."""
    table = find_target("sim").table
    settled = 0
    for name in random.Random(SEED + 2).sample(names(COUNT), 80):
        call = partial(Call, overload_of(name))
        recipe, writes = recipes(name, "float32", 1)[0], overload_of(name)._schema.is_mutable
        try:
            shadows = leaf_calls(*function_of(call(*recipe.fresh())), table, writes=writes, stand_ins=shadow_inputs)
            fakes = leaf_calls(*function_of(call(*recipe.fresh())), table, writes=writes)
        except Exception:  # one of them settles nothing: the other, or graphs, decide
            continue
        settled += 1
        assert [str(c) for c in shadows] == [str(c) for c in fakes], name
    assert settled >= 60


def test_watching_gradients_finds_the_leaves_that_tracing_finds() -> None:
    """Where the quick way gives an answer to a call that requires gradients, AOTAutograd's two graphs hold the same operators.

    But for `detach`, which AOTAutograd puts around what a backward keeps, and for what only dead code of the joint graph needs.
    """
    table = sim().table
    settled, more = 0, []
    for name in random.Random(SEED + 3).sample(names(COUNT), 120):
        overload = overload_of(name)
        if overload._schema.is_mutable or differentiated_by_rules(overload):
            continue

        def call(name: str = name, overload: Any = overload) -> Call:
            args, kwargs = recipes(name, "float32", 1)[0].fresh()
            for t in pytree.tree_leaves((list(args), kwargs)):
                if isinstance(t, torch.Tensor):
                    t.requires_grad_(t.is_floating_point() or t.is_complex())
            return Call(overload, args, kwargs)

        if not any(t.requires_grad for t in call().tensors()):
            continue
        try:
            watched = leaf_calls(*function_of(call()), table, gradients=True, stand_ins=shadow_inputs)
        except Exception:  # it settles nothing: the other way decides
            continue
        settled += 1
        traced = {c.name for g in trace(call(), table) for c in calls_of(g)} - {"aten::detach"}
        missing = traced - {c.name for c in watched}
        assert missing <= {"aten::add.Tensor"}, name  # of two gradients of which one is zero
        more += [name] if {c.name for c in watched} - traced - {"aten::detach"} else []
    assert settled >= 30
    assert len(more) <= settled // 10, more


def test_a_gradient_without_a_kernel_is_seen() -> None:
    """The backward belongs to the verdict of a call whose tensors require gradients."""
    forward_only = Target("forward", tuple(k for k in sim().kernels if k.overload != "aten::tanh_backward"))
    x = torch.ones(3, requires_grad=True)
    call = Call(torch.ops.aten.tanh.default, (x,))
    with torch.no_grad():
        assert forward_only.verdict(call)
    with torch.enable_grad():
        verdict = forward_only.verdict(call)
        assert not verdict
        assert "aten::tanh_backward" in verdict.missing
        assert sim().verdict(call)
