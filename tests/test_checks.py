"""Checks of values: the host's control, no kernel and no fallback; what eager refuses stays refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import bringup
from bringup import Call, Engine, Kernel, Status, Target, find_target
from bringup.target.call import is_check
from bringup.torch_internals import find_overload

aten = torch.ops.aten
OPTIONS: tuple[dict[str, Any], ...] = (
    {"optional_kernels": True, "fallback": "error"},
    {"optional_kernels": False, "fallback": "error"},
)


@pytest.fixture
def silent() -> Iterator[str]:
    """The name of a custom operator that has no result."""
    with torch.library._scoped_library("bringup_checks", "FRAGMENT") as library:
        library.define("silent(Tensor x) -> ()")
        library.impl("silent", lambda x: None, "CompositeExplicitAutograd")
        yield "bringup_checks::silent"


def checked(x: torch.Tensor) -> torch.Tensor:
    """A value that is only given out when it holds a condition."""
    aten._assert_async((x > 0).all(), "every element must be positive")
    return x * 2


@pytest.mark.parametrize("options", OPTIONS)
def test_a_check_that_holds_changes_nothing(options: dict[str, Any]) -> None:
    """It is an instruction of the host, not a fallback and no kernel."""
    with bringup.recording() as r:
        result = torch.compile(checked, backend="bringup", options=options)(torch.ones(3))
    assert torch.equal(result, torch.full((3,), 2.0))
    assert r.fallbacks == []
    (check,) = [i for i in r.programs[0].instructions if i.operation.startswith("check::")]
    assert check.engine is Engine.HOST
    assert check.effects
    assert not [name for name in r.kernels if "assert" in name]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_check_that_fails_raises_what_eager_raises(options: dict[str, Any]) -> None:
    """The same class, the same message, and again at the next call."""
    compiled = torch.compile(checked, backend="bringup", options=options)
    compiled(torch.ones(3))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="every element must be positive"):
            compiled(torch.tensor([1.0, -1.0, 1.0]))


CHECKS_STAY = pytest.mark.skipif(
    torch.__version__ < "2.11",
    reason="AOTAutograd of this release drops operators without a result: aot_eager does not raise either",
)


@CHECKS_STAY
@pytest.mark.parametrize("classes", [[0, 3], [-1, 2], [2, 4]])
def test_one_hot_refuses_the_classes_that_eager_refuses(classes: list[int]) -> None:
    """Its decomposition checks the classes on the device's values."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(x, 4)

    compiled = torch.compile(fn, backend="bringup", options=OPTIONS[0])
    x = torch.tensor(classes)
    if min(classes) >= 0 and max(classes) < 4:
        assert torch.equal(compiled(x), fn(x))
        return
    with pytest.raises(RuntimeError, match="Class values must be"):
        fn(x)
    with pytest.raises(RuntimeError, match="Class values must be"):
        compiled(x)


@CHECKS_STAY
def test_a_singular_matrix_is_refused() -> None:
    """The factorisation's error code is a value of the device, too."""
    compiled = torch.compile(torch.linalg.inv, backend="bringup", options=OPTIONS[1])
    assert torch.equal(compiled(torch.eye(2)), torch.eye(2))
    with pytest.raises(RuntimeError, match="singular"):
        compiled(torch.zeros(2, 2))


def test_verdict_agrees_with_the_compiler() -> None:
    """A target without a kernel for a check runs what contains one."""
    for optional in (True, False):
        target = find_target("sim").with_options(optional_kernels=optional)
        assert target.verdict(Call(aten._assert_async.msg, (torch.tensor(True), "why")))
        verdict = target.verdict(Call(aten.one_hot.default, (torch.tensor([1, 2]), 4)))
        assert verdict.status is Status.DECOMPOSED
        assert not any("assert" in name for name in verdict.through)


def test_a_kernel_for_a_check_wins() -> None:
    """A device with an assertion of its own runs it."""
    seen = []
    sim = find_target("sim")
    row = Kernel(
        "aten::_assert_async.msg", Engine.VECTOR, frozenset({torch.bool}), implementation=lambda *a: seen.append(a[1])
    )
    target = sim.with_kernels([row])
    assert isinstance(target, Target)
    assert target.verdict(Call(aten._assert_async.msg, (torch.tensor(True), "why"))).status is Status.NATIVE
    options: dict[str, Any] = {"target": target, "fallback": "error"}
    torch.compile(checked, backend="bringup", options=options)(torch.ones(3))
    assert seen == ["every element must be positive"]


def test_what_a_check_is() -> None:
    """No result and no write, by the schema of an operator of PyTorch's own."""
    for name in ("aten::_assert_async", "aten::_assert_async.msg", "aten::_linalg_check_errors"):
        overload = find_overload(name)
        assert overload is not None
        assert is_check(overload)
    for name in ("aten::add.Tensor", "aten::add_.Tensor", "aten::_local_scalar_dense", "aten::_foreach_add_.Scalar"):
        overload = find_overload(name)
        assert overload is not None
        assert not is_check(overload)


def test_a_custom_operator_without_result_is_no_check(silent: str) -> None:
    """Its schema may hide what it does, so the target has to say that it can."""
    overload = find_overload(silent)
    assert overload is not None
    assert not is_check(overload)
    assert find_target("sim").refuses(Call(overload, (torch.ones(2),)))
