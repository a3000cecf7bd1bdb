"""The kernel table, verdicts, and that the compiler agrees with them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

import bringup
from bringup import Call, Engine, Kernel, Reason, Status, Target, TargetError, Verdict, find_target
from bringup.decompositions import FAMILIES
from bringup.torch_internals import find_overload

aten = torch.ops.aten
ON_PINNED = torch.__version__.startswith("2.13")


def test_at_most_128_required_kernels() -> None:
    """The set is small, and no overload is in it twice."""
    required = [k.overload for k in find_target("sim").kernels if k.required]
    assert len(required) <= 128
    assert len(set(required)) == len(required)


@pytest.mark.skipif(not ON_PINNED, reason="names come and go between releases; they are held on the pinned one")
def test_every_name_in_the_tables_is_an_operator() -> None:
    """A misspelt kernel or decomposition would silently do nothing."""
    missing = [k.overload for k in find_target("sim").kernels if find_overload(k.overload) is None]
    missing += [name for family in FAMILIES for name in family.absent]
    assert missing == []


def test_kernels_command_prints_the_contract() -> None:
    """`bringup kernels --format json` is a list of rows with four keys."""
    out = subprocess.run(
        [sys.executable, "-m", "bringup", "kernels", "--format", "json"], check=True, capture_output=True
    )
    rows = json.loads(out.stdout)
    assert {"overload", "engine", "dtypes", "required"} <= set(rows[0])
    mm = next(r for r in rows if r["overload"] == "aten::mm")
    assert mm["engine"] == "matrix"
    assert mm["required"] is True
    assert "float32" in mm["dtypes"]


def test_verdict_native() -> None:
    """A kernel that takes the call makes it native."""
    x = torch.ones(2, 2)
    assert find_target("sim").verdict(Call(aten.mm.default, (x, x))) == Verdict(Status.NATIVE)


def test_verdict_decomposed_names_its_kernels() -> None:
    """A decomposition's verdict lists the kernels that an actual trace ends in."""
    verdict = find_target("sim").with_options(optional_kernels=False).verdict(Call(aten.silu.default, (torch.ones(2),)))
    assert verdict.status is Status.DECOMPOSED
    assert "aten::sigmoid" in verdict.through


def test_verdict_none_says_which_leaf() -> None:
    """A table is not a verdict: a decomposition that ends in an operator without kernel is a no."""
    target = Target(
        "tiny", (Kernel("aten::neg", Engine.VECTOR, frozenset({torch.float32})),), find_target("sim").decompositions
    )
    verdict = target.verdict(Call(aten.silu.default, (torch.ones(2),)))
    assert verdict.reason is Reason.LEAF_MISSING
    assert "aten::" in verdict.detail
    assert not verdict


@pytest.mark.parametrize(
    "name", ["aten::mul.Tensor", "aten::exp", "aten::where.self", "aten::sum.dim_IntList", "aten::cat"]
)
def test_an_operator_without_kernel_does_not_decompose_in_circles(name: str) -> None:
    """References and prims lead back to the operator; a target that lacks it gets a no, not a recursion error."""
    sim = find_target("sim").with_options(optional_kernels=False)
    without = Target(
        "without", tuple(k for k in sim.kernels if k.overload != name), sim.decompositions, optional_kernels=False
    )
    x = torch.rand(2, 2)
    arguments: dict[str, tuple[object, ...]] = {
        "aten::mul.Tensor": (x, x),
        "aten::exp": (x,),
        "aten::where.self": (x > 0, x, x),
        "aten::sum.dim_IntList": (x, [0]),
        "aten::cat": ([x, x],),
    }
    overload = find_overload(name)
    assert overload is not None
    verdict = without.verdict(Call(overload, arguments[name]))
    assert verdict.reason in (Reason.NO_DECOMPOSITION, Reason.LEAF_MISSING), str(verdict)


def test_verdict_by_dtype() -> None:
    """The same overload is native in one dtype and not in another."""
    target = Target("tiny", (Kernel("aten::neg", Engine.VECTOR, frozenset({torch.float32})),))
    assert target.verdict(Call(aten.neg.default, (torch.ones(2),))).status is Status.NATIVE
    assert target.verdict(Call(aten.neg.default, (torch.ones(2).int(),))).reason is Reason.DTYPE


def test_verdict_by_the_dtype_of_what_is_made() -> None:
    """An operator that takes no tensors is held to the dtype that it is asked for."""
    target = Target("tiny", (Kernel("aten::full", Engine.MEMORY, frozenset({torch.float32})),))
    assert target.verdict(Call(aten.full.default, ([2], 1.0), {"dtype": torch.float32})).status is Status.NATIVE
    assert target.verdict(Call(aten.full.default, ([2], 1), {"dtype": torch.int64})).reason is Reason.DTYPE


def test_constraint_reason_reaches_the_verdict() -> None:
    """What a kernel's check says is what the verdict says."""
    row = Kernel(
        "aten::mm",
        Engine.MATRIX,
        frozenset({torch.float32}),
        lambda c: "needs 16 rows" if c.args[0].shape[0] % 16 else None,
    )
    verdict = Target("tiny", (row,)).verdict(Call(aten.mm.default, (torch.ones(3, 3), torch.ones(3, 3))))
    assert verdict.reason is Reason.CONSTRAINT
    assert "needs 16 rows" in verdict.detail


def test_two_kernels_for_one_overload_are_an_error() -> None:
    """A duplicate row is named."""
    row = Kernel("aten::mm", Engine.MATRIX, frozenset({torch.float32}))
    with pytest.raises(TargetError, match="two kernels for aten::mm"):
        Target("tiny", (row, row))


def test_own_target_with_own_implementation() -> None:
    """A user's kernel is what runs."""
    calls = []

    def neg(x: torch.Tensor) -> torch.Tensor:
        calls.append(x.shape)
        return -x

    target = Target("mine", (Kernel("aten::neg", Engine.VECTOR, frozenset({torch.float32}), implementation=neg),))
    compiled = torch.compile(torch.neg, backend="bringup", options={"target": target, "fallback": "error"})
    assert torch.equal(compiled(torch.ones(3)), -torch.ones(3))
    assert calls == [(3,)]


def test_compiler_and_verdict_agree() -> None:
    """What the verdict says of a call is what compiling the call does."""
    target = find_target("sim").with_options(optional_kernels=False)
    x = torch.rand(4, 4) + 0.5
    calls = [
        (aten.silu.default, (x,), ()),
        (aten.add.Tensor, (x, x), ()),
        (aten._softmax.default, (x,), (1, False)),
        (aten.tril.default, (x,), ()),
        (aten.bmm.default, (x[None], x[None]), ()),
    ]
    for overload, tensors, rest in calls:
        verdict = target.verdict(Call(overload, (*tensors, *rest)))
        compiled = bringup.compile_function(
            lambda *t, o=overload, r=rest: o(*t, *r), options={"optional_kernels": False}
        )
        with bringup.recording() as recorded:
            compiled(*tensors)
        assert bool(verdict) == (not recorded.fallbacks)
