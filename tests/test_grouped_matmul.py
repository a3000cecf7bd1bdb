"""Grouped products: group sizes are data, so one program serves them all."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest
import torch

import bringup
from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import find_overload

OPTIONS: tuple[dict[str, Any], ...] = tuple({"optional_kernels": o, "fallback": "error"} for o in (True, False))
ENDS = ([2, 2, 5], [0, 7, 7], [0, 0, 0], [7, 7, 7], [0, 0, 7], [1, 3, 6])
"""Of three groups of seven rows: even, empty ones in front, behind and in the middle, one with all, rows behind the last."""


@pytest.fixture(scope="module")
def fallback() -> Any:
    """The operator by which the transformers package multiplies the tokens of its experts while it is compiled."""
    pytest.importorskip("transformers")
    try:
        importlib.import_module("transformers.integrations.moe")
    except ModuleNotFoundError:
        pytest.skip("this transformers has no grouped products")
    overload = find_overload("transformers::grouped_mm_fallback")
    if overload is None or find_overload("transformers::grouped_mm_fallback_backward") is None:
        pytest.skip("this transformers does not register transformers::grouped_mm_fallback with its backward")
    return overload


def operands(rows: int, groups: int, transposed: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """[rows, 8] and [groups, 8, 5], both with gradients."""
    torch.manual_seed(rows + groups)
    weight = torch.randn(groups, 5, 8).transpose(1, 2) if transposed else torch.randn(groups, 8, 5)
    return torch.randn(rows, 8, requires_grad=True), weight.detach().requires_grad_()


def results(function: Any, x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> list[torch.Tensor]:
    """The product and both gradients."""
    product = function(x, weight, ends)
    return [product, *torch.autograd.grad(product.square().sum() / 2, (x, weight))]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_custom_operator_forward_and_backward(
    fallback: Any, options: dict[str, Any], dynamic: bool, transposed: bool
) -> None:
    """Values and strides are those of eager, for every spread of the rows, with one program for all of them."""
    x, weight = operands(7, 3, transposed)
    with bringup.recording() as r:
        compiled = torch.compile(lambda *a: fallback(*a), backend="bringup", options=options, dynamic=dynamic)
        for ends in ENDS:
            offs = torch.tensor(ends, dtype=torch.int32)
            ours, theirs = results(compiled, x, weight, offs), results(fallback, x, weight, offs)
            torch.testing.assert_close(ours, theirs)
            assert [t.stride() for t in ours] == [t.stride() for t in theirs]
    assert [p.name for p in r.programs] == ["forward", "backward"]
    assert r.fallbacks == []


@pytest.mark.parametrize(
    ("rows", "ends"), [(0, [0, 0]), (1, [1]), (3, [0, 1, 1, 1, 3, 3, 3]), (100, [1, 99, 100, 100])]
)
def test_custom_operator_shapes(fallback: Any, rows: int, ends: list[int]) -> None:
    """No row, one row, fewer rows than groups, and many."""
    x, weight = operands(rows, len(ends), False)
    offs = torch.tensor(ends, dtype=torch.int32)
    compiled = torch.compile(lambda *a: fallback(*a), backend="bringup", options=OPTIONS[1], dynamic=False)
    torch.testing.assert_close(results(compiled, x, weight, offs), results(fallback, x, weight, offs))


def test_a_group_keeps_its_nan(fallback: Any) -> None:
    """What is not finite in one group does not reach another's rows or gradients."""
    x, weight = operands(7, 3, False)
    offs = torch.tensor([2, 4, 6], dtype=torch.int32)
    with torch.no_grad():
        x[2] = float("nan")
        x[6] = float("inf")
        weight[0, 0, 0] = float("inf")
    compiled = torch.compile(lambda *a: fallback(*a), backend="bringup", options=OPTIONS[1])
    ours, theirs = results(compiled, x, weight, offs), results(fallback, x, weight, offs)
    torch.testing.assert_close(ours, theirs, equal_nan=True)
    assert torch.isfinite(ours[0][4:]).all()
    assert torch.isfinite(ours[2][2]).all()


def bf16(*shape: int) -> torch.Tensor:
    """Random, in the one dtype that PyTorch compiles grouped products of."""
    return torch.randn(*shape, dtype=torch.bfloat16)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["rows", "narrow rows", "columns", "inner", "batch"])
def test_grouped_mm(kind: str, options: dict[str, Any]) -> None:
    """PyTorch's own operator: groups of rows, of columns, of what is summed over; and without groups."""
    torch.manual_seed(0)
    a, b, ends = {
        "rows": (bf16(7, 8), bf16(3, 8, 16), [2, 2, 7]),
        "narrow rows": (bf16(7, 8), bf16(3, 5, 8).transpose(1, 2), [2, 2, 7]),
        "columns": (bf16(3, 7, 8), bf16(24, 8).t(), [4, 8, 24]),
        "inner": (bf16(16, 8).t(), bf16(16, 16), [3, 3, 16]),
        "batch": (bf16(3, 7, 8), bf16(3, 8, 16), None),
    }[kind]
    offs = None if ends is None else torch.tensor(ends, dtype=torch.int32)

    def fn(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor | None) -> torch.Tensor:
        return torch.ops.aten._grouped_mm(a, b, offs=offs)

    expected = fn(a, b, offs)
    actual = torch.compile(fn, backend="bringup", options=options)(a, b, offs)
    torch.testing.assert_close(actual, expected)
    assert actual.stride() == expected.stride()


def test_entries_of_other_packages_come_when_those_do() -> None:
    """The table has them once the operator exists; nothing is imported for it."""
    table = Decompositions("of others")
    name = "bringup_later::twice"
    table.register_later(name)(lambda x: x + x)
    assert len(table) == len(list(table)) == 0
    with torch.library._scoped_library("bringup_later", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        overload = find_overload(name)
        assert overload is not None
        assert list(table) == [overload]
        assert table[overload](2) == 4
    with pytest.raises(bringup.TargetError, match="two decompositions"):
        table.register_later(name)(lambda x: x)


def test_the_target_follows() -> None:
    """`sim` has the entry after the package is imported, even when it was used before; before, transformers stays out."""
    pytest.importorskip("transformers")
    script = """
import sys, torch, bringup
before = bringup.find_target("sim")
assert bringup.find_target("sim") is before and "transformers" not in sys.modules
try:
    import transformers.integrations.moe
    operator = torch.ops.transformers.grouped_mm_fallback
except (ImportError, AttributeError):
    sys.exit(5)
arguments = torch.ones(4, 2), torch.ones(2, 2, 3), torch.tensor([1, 4])
call = bringup.Call(operator.default, arguments)
assert bringup.find_target("sim").verdict(call).status is bringup.Status.DECOMPOSED
assert bringup.find_target("sim") is bringup.find_target("sim")
options = {"fallback": "error"}
assert torch.equal(torch.compile(operator, backend="bringup", options=options)(*arguments), operator(*arguments))
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    if done.returncode == 5:
        pytest.skip("this transformers does not register transformers::grouped_mm_fallback")
    assert done.returncode == 0, done.stderr
