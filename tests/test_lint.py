"""`bringup lint-decompositions` on small targets of which is known what is dead, harmful, shadowed and overriding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from bringup import Engine, Kernel, Target, find_target
from bringup_coverage.commands.lint_decompositions import lint_decompositions
from bringup_coverage.lint import Settings, lint, render

aten = torch.ops.aten
F32 = frozenset({torch.float32})


def kernels(*names: str) -> tuple[Kernel, ...]:
    """Kernels for all dtypes there are."""
    every = frozenset(d for d in vars(torch).values() if isinstance(d, torch.dtype))
    return tuple(Kernel(name, Engine.VECTOR, every) for name in names)


def linted(target: Target, only: str) -> dict[str, dict[str, Any]]:
    """The findings on a target by overload."""
    found = lint(Settings(target, only=only))
    assert found["lost"] == {}
    return {row["overload"]: row for row in found["findings"]}


def test_a_used_entry_is_no_finding() -> None:
    """Its operator's own calls take it."""
    table = {aten.silu.default: lambda x: aten.mul.Tensor(x, aten.sigmoid.default(x))}
    assert linted(Target("t", kernels("aten::mul.Tensor", "aten::sigmoid"), table), "aten::silu") == {}


def test_an_entry_that_other_traces_use_is_not_dead() -> None:
    """Nobody calls it but another decomposition; it is a user's that wins over bringup's, and no more than that."""
    table = {
        aten.silu.default: lambda x: aten.mul.Tensor(x, aten.sigmoid.default(x)),
        aten.sigmoid.default: lambda x: aten.exp.default(x),
    }
    found = linted(Target("t", kernels("aten::mul.Tensor", "aten::exp"), table), "aten::silu")
    assert {name: row["kind"] for name, row in found.items()} == {"aten::sigmoid": "overriding"}


def test_dead_because_pytorch_comes_first() -> None:
    """A composite operator comes apart before the table is asked."""
    row = linted(Target("t", kernels("aten::neg"), {aten.negative.default: aten.neg.default}), "aten::neg*")[
        "aten::negative"
    ]
    assert row["kind"] == "dead"
    assert "above the device" in row["detail"]


def test_dead_because_it_declines() -> None:
    """It takes none of the calls it is asked for."""
    row = linted(Target("t", (), {aten.silu.default: lambda x: NotImplemented}), "aten::silu")["aten::silu"]
    assert (row["kind"], row["counts"]["taken"]) == ("dead", 0)
    assert "declined" in row["detail"]


def test_dead_because_it_fails() -> None:
    """It raises on every call."""

    def fails(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("made for a test")

    row = linted(Target("t", (), {aten.silu.default: fails}), "aten::silu")["aten::silu"]
    assert row["kind"] == "dead"
    assert "failed" in row["detail"]


def test_shadowed_by_its_kernel() -> None:
    """The kernel takes every call, in every dtype."""
    row = linted(Target("t", kernels("aten::silu"), {aten.silu.default: lambda x: x}), "aten::silu")["aten::silu"]
    assert row["kind"] == "shadowed"
    assert row["place"]["file"].endswith("test_lint.py")


def test_not_shadowed_by_a_kernel_of_one_dtype() -> None:
    """What the kernel does not take in another dtype goes to the entry."""
    rows = Target("t", (Kernel("aten::silu", Engine.VECTOR, F32),), {aten.silu.default: lambda x: x})
    assert linted(rows, "aten::silu") == {}


def test_an_optional_kernel_shadows_nothing() -> None:
    """It can be switched off."""
    optional = (Kernel("aten::silu", Engine.VECTOR, F32, required=False),)
    assert linted(Target("t", optional, {aten.silu.default: lambda x: x}), "aten::silu") == {}


def test_harmful_where_the_composite_would_run() -> None:
    """An entry for a composite operator leads to a missing kernel; PyTorch's own way needs only what is there."""
    table = {
        aten.silu.default: lambda x: aten.negative.default(x),
        aten.negative.default: lambda x: aten.exp.default(x),
    }
    row = linted(Target("t", kernels("aten::neg"), table), "aten::silu")["aten::negative"]
    assert row["kind"] == "harmful"
    assert "aten::exp" in row["detail"]
    assert "composite" in row["detail"]


def test_harmful_where_pytorchs_decomposition_would_run() -> None:
    """Another decomposition of the same operator ends in kernels that the target has."""
    table = {aten.silu.default: lambda x: aten.exp.default(x)}
    target = Target("t", kernels("aten::mul.Tensor", "aten::sigmoid", "aten::_to_copy"), table)
    row = linted(target, "aten::silu")["aten::silu"]
    assert row["kind"] == "harmful"
    assert "PyTorch's own decomposition" in row["detail"]


def test_not_harmful_where_nothing_would_run() -> None:
    """A missing kernel alone is no fault of the entry."""
    assert linted(Target("t", kernels("aten::neg"), {aten.silu.default: aten.exp.default}), "aten::silu") == {}


def test_harmful_where_a_kernel_is_passed_by() -> None:
    """The operator's kernel would take the call, and no trace holds it."""
    row = linted(Target("t", kernels("aten::linear"), {}), "aten::linear")["aten::linear"]
    assert row["kind"] == "harmful"
    assert "no compiled graph reaches" in row["detail"]


def test_overriding_bringups() -> None:
    """A user's entry that wins over ours is said; it is used."""
    mine = find_target("sim").with_decompositions(
        {aten.addmm.default: lambda b, x, y, beta=1, alpha=1: aten.mm.default(x, y)}
    )
    row = linted(mine, "aten::addmm")["aten::addmm"]
    assert row["kind"] == "overriding"
    assert "linalg_products.py" in row["detail"]


def test_unseen_is_not_dead() -> None:
    """Where no call is known, nothing is claimed."""
    row = linted(Target("t", (), {torch.ops.prims.sin.default: aten.sin.default}), "aten::silu")["prims::sin"]
    assert row["kind"] == "unseen"


@pytest.mark.skipif(
    torch.version.cuda is not None, reason="with a CUDA build no fork of a process that has run a backward can run one"
)
def test_used_in_a_backward_only() -> None:
    """An entry that only gradients reach is found in traces with gradients, and is dead without them."""
    table = {aten.threshold_backward.default: lambda g, x, t: aten.mul.Tensor(g, x)}
    target = Target("t", kernels("aten::relu", "aten::mul.Tensor", "aten::detach", "aten::alias"), table)
    forward = lint(Settings(target, gradient=False, only="aten::relu"))
    assert forward["totals"]["unseen"] == 1
    assert lint(Settings(target, only="aten::relu"))["findings"] == []


def test_command(tmp_path: Path) -> None:
    """Exit status and formats."""
    (tmp_path / "harm.toml").write_text(
        'name = "harm"\ndecompositions = "none"\n[kernels]\nmatrix = ["aten::linear"]\n', "utf-8"
    )
    arguments = ["--target", str(tmp_path / "harm.toml"), "--only", "aten::linear", "--jobs", "1"]
    assert CliRunner().invoke(lint_decompositions, arguments).exit_code == 0
    strict = CliRunner().invoke(lint_decompositions, [*arguments, "--strict", "--format", "json"])
    assert strict.exit_code == 1
    found = json.loads(strict.output)
    assert found["totals"]["harmful"] == 1
    assert "harmful" in render(found)
