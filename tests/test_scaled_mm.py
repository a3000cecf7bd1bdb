"""Products of float8 matrices with scales equal eager's; calls that do not factor are left."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import bringup

aten = torch.ops.aten
OPTIONS: tuple[dict[str, Any], ...] = tuple({"optional_kernels": o, "fallback": "error"} for o in (True, False))
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


def operands(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """(16, 32) and (32, 24), the second lying in columns as the operator wants it."""
    torch.manual_seed(0)
    return torch.randn(16, 32).to(dtype), torch.randn(24, 32).to(torch.float8_e4m3fn).t()


def check(fn: Any, *args: Any, options: dict[str, Any]) -> None:
    """Compiled results equal eager's, in values, dtype and strides."""
    try:
        expected = fn(*args)
    except (NotImplementedError, RuntimeError) as error:
        if torch.__version__ >= "2.13":
            raise
        pytest.skip(f"eager of this torch refuses it on the CPU: {type(error).__name__}")
    actual = torch.compile(fn, backend="bringup", options=options)(*args)
    assert actual.dtype == expected.dtype
    assert actual.stride() == expected.stride()
    step = torch.finfo(expected.dtype).eps  # sums in another order may round to the neighbour
    tolerance = {"rtol": step, "atol": step} if expected.dtype != torch.float32 else {}
    torch.testing.assert_close(actual.float(), expected.float(), **tolerance)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("out_dtype", [torch.float32, torch.bfloat16, None])
@pytest.mark.parametrize("rows", [False, True])
def test_scaled_mm(rows: bool, out_dtype: torch.dtype | None, dtype: torch.dtype, options: dict[str, Any]) -> None:
    """One scale for each matrix, or one for each row and column; with a bias."""
    a, b = operands(dtype)
    scales = (torch.rand(16, 1), torch.rand(1, 24)) if rows else (torch.tensor(0.5), torch.tensor([3.0]))
    bias = torch.randn(24)

    def fn(a: torch.Tensor, b: torch.Tensor, sa: torch.Tensor, sb: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return aten._scaled_mm(a, b, sa, sb, bias=bias, out_dtype=out_dtype)

    check(fn, a, b, *scales, bias, options=options)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("out_dtype", [torch.float8_e4m3fn, torch.float32])
def test_the_scale_of_a_float8_result_divides(out_dtype: torch.dtype, options: dict[str, Any]) -> None:
    """Eager ignores it for wider results."""
    a, b = operands(torch.float8_e4m3fn)

    def fn(a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return aten._scaled_mm(a, b, scale, scale, scale_result=scale, out_dtype=out_dtype)

    check(fn, a, b, torch.tensor(0.5), options=options)


@pytest.mark.skipif(not hasattr(aten, "_scaled_mm_v2"), reason="this torch has no such operator")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("recipe", [0, 1])
def test_named_recipes(recipe: int, options: dict[str, Any]) -> None:
    """Whole matrices, and rows and columns."""
    a, b = operands(torch.float8_e4m3fn)
    scales = (torch.tensor(2.0), torch.tensor(3.0)) if recipe == 0 else (torch.rand(16, 1), torch.rand(1, 24))

    def fn(a: torch.Tensor, b: torch.Tensor, sa: torch.Tensor, sb: torch.Tensor) -> torch.Tensor:
        return aten._scaled_mm_v2(a, b, [sa], [recipe], [0], [sb], [recipe], [0], None, torch.float32)

    check(fn, a, b, *scales, options=options)


def test_blocks_of_scales_are_left() -> None:
    """A scale along the inner dimension does not factor out of the product."""
    a, b = operands(torch.float8_e4m3fn)
    call = bringup.Call(aten._scaled_mm.default, (a, b, torch.rand(16, 2), torch.rand(2, 24)))
    assert not bringup.find_target("sim").verdict(call)
