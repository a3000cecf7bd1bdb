"""Each graph pass on a graph that shows what it does, and one that shows what it must leave alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from bringup import Buffer, Engine, Instruction, Program, VerificationError, passes
from bringup.ir import Ref, Role
from bringup.verify import verify

aten = torch.ops.aten


def graph(fn: Callable[..., Any], *args: torch.Tensor) -> fx.GraphModule:
    """A traced ATen graph with fake values."""
    return make_fx(fn, tracing_mode="fake")(*args)


def calls(gm: fx.GraphModule) -> Counter[str]:
    """How often each operator is called."""
    return Counter(str(n.target) for n in gm.graph.nodes if n.op == "call_function")


def run(gm: fx.GraphModule, *args: torch.Tensor) -> Any:
    """The graph's result on real tensors."""
    gm.recompile()
    return gm(*args)


X = torch.arange(6.0).reshape(2, 3)


def test_dead_code() -> None:
    """What nothing reads goes; a random draw stays, since eager advances the stream too."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        x.exp()
        torch.rand(2)
        return x + 1

    left = calls(passes.RemoveDeadCode()(graph(fn, X)))
    assert left == {"aten.rand.default": 1, "aten.add.Tensor": 1}


def test_common_subexpressions() -> None:
    """Equal pure operators are computed once."""
    gm = passes.MergeCommonSubexpressions()(graph(lambda x: x.exp() + x.exp() * 2, X))
    assert calls(gm)["aten.exp.default"] == 1
    torch.testing.assert_close(run(gm, X), X.exp() * 3)


def test_common_subexpressions_leave_outputs_and_random_numbers_apart() -> None:
    """Two outputs keep memory of their own; two draws are two draws."""
    assert calls(passes.MergeCommonSubexpressions()(graph(lambda x: (x.exp(), x.exp()), X)))["aten.exp.default"] == 2
    assert (
        calls(passes.MergeCommonSubexpressions()(graph(lambda x: x + torch.rand(3) + torch.rand(3), X)))[
            "aten.rand.default"
        ]
        == 2
    )


def test_common_subexpressions_see_writes() -> None:
    """A sum before and after a write to its operand are two values."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        before = x.sum()
        x.copy_(x * 2)
        return before + x.sum()

    gm = passes.MergeCommonSubexpressions()(graph(fn, X.clone()))
    assert calls(gm)["aten.sum.default"] == 2
    assert run(gm, X.clone()) == 45


def test_no_ops() -> None:
    """A copy, a view and a product with one that change nothing are read through."""
    gm = passes.RemoveNoOps()(graph(lambda x: (x.clone().view(2, 3) * 1).exp(), X))
    assert calls(passes.RemoveDeadCode()(gm)) == {"aten.exp.default": 1}


def test_no_ops_keep_what_is_seen_from_outside() -> None:
    """A clone that is returned, or a view of it, keeps its memory; so does one whose operand is written to."""
    assert calls(passes.RemoveNoOps()(graph(lambda x: x.clone(), X)))["aten.clone.default"] == 1
    assert calls(passes.RemoveNoOps()(graph(lambda x: x.clone().t(), X)))["aten.clone.default"] == 1

    def fn(x: torch.Tensor) -> torch.Tensor:
        old = x.clone()
        x.copy_(x * 2)
        return old + 1

    gm = passes.RemoveNoOps()(graph(fn, X.clone()))
    torch.testing.assert_close(run(gm, X.clone()), X + 1)


def test_join_views() -> None:
    """Chains of views and permutations read the base."""
    gm = passes.RemoveDeadCode()(passes.JoinViews()(graph(lambda x: aten.view(aten.view(x, [6]), [3, 2]).exp(), X)))
    assert calls(gm)["aten.view.default"] == 1
    gm = passes.JoinViews()(graph(lambda x: aten.permute(aten.permute(x, [1, 2, 0]), [1, 2, 0]).exp(), X[None]))
    gm = passes.RemoveDeadCode()(gm)
    assert calls(gm)["aten.permute.default"] == 1
    torch.testing.assert_close(run(gm, X[None]), X[None].permute(2, 0, 1).exp())


def test_fold_constants() -> None:
    """What does not depend on the inputs is computed once, unless it escapes or is large."""
    fold = passes.FoldConstants(max_elements=8)
    gm = passes.RemoveDeadCode()(fold(graph(lambda x: x + torch.arange(3) * 2, X)))
    assert calls(gm) == {"aten.add.Tensor": 1}
    torch.testing.assert_close(run(gm, X), X + torch.arange(3) * 2)
    assert calls(fold(graph(lambda x: torch.ones(3), X)))["aten.ones.default"] == 1
    assert calls(fold(graph(lambda x: torch.ones(9).sum() + x, X)))["aten.ones.default"] == 1


def _program(*instructions: Instruction, outputs: tuple[Any, ...] = (Ref("b"),)) -> Program:
    names = {"a": Role.INPUT, "b": Role.INTERMEDIATE, "k": Role.CONSTANT}
    buffers = {n: Buffer(n, r, torch.float32, (2,)) for n, r in names.items()}
    return Program("p", "sim", ("a",), instructions, outputs, buffers, {"k": torch.ones(2)})


def _neg(operand: str, result: str | None = "b", writes: tuple[str, ...] = ()) -> Instruction:
    return Instruction("aten::neg", Engine.VECTOR, torch.neg, (Ref(operand),), (), (result,), writes=writes, node="n")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (_program(_neg("b")), "reads %b before it is defined"),
        (_program(_neg("a"), _neg("a")), "%b is defined a second time"),
        (_program(_neg("a", "c")), "has no buffer"),
        (_program(outputs=(Ref("b"),)), "returns %b, which no instruction defines"),
        (_program(_neg("k", writes=("k",))), "writes to the constant %k"),
    ],
)
def test_verifier_names_the_fault(program: Program, message: str) -> None:
    """An illegal program is refused with the instruction named."""
    with pytest.raises(VerificationError, match=message):
        verify(program)


def test_verifier_accepts_a_legal_program() -> None:
    """A legal program is returned as it is."""
    program = _program(_neg("a"))
    assert verify(program) is program
