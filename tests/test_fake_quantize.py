"""Fake quantisation gives eager's own numbers: values, masks, state and layouts."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

import bringup

aten = torch.ops.aten
OPTIONS = {"fallback": "error", "optional_kernels": False}
RANGES = ((-128, 127), (0, 255), (-(2**31), 2**31 - 1))
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
INT32 = torch.int32


def image(dtype: torch.dtype, scale: float = 0.05) -> torch.Tensor:
    """(4, 3, 20, 20), with ties between two steps of `scale`, infinities, NaN and huge numbers."""
    x = torch.randn(4, 3, 20, 20, generator=torch.Generator().manual_seed(1)) * 5
    x.view(-1)[:1000] = (torch.arange(1000) - 500 + 0.5) * scale
    x.view(-1)[1000:1005] = torch.tensor([math.inf, -math.inf, math.nan, 1e30, -1e30])
    return x.to(dtype)


def check(overload: Any, *args: Any, rtol: float = 0.0) -> None:
    """Compiled by required kernels alone, `overload` gives what it gives in eager: values to `rtol`, dtypes, strides."""
    tensors = [a for a in args if isinstance(a, torch.Tensor)]

    def function(*given: torch.Tensor) -> Any:
        left = iter(given)
        return overload(*(next(left) if isinstance(a, torch.Tensor) else a for a in args))

    with torch.no_grad():
        expected = function(*(t.clone() for t in tensors))
        actual = bringup.compile_function(function, options=OPTIONS)(*(t.clone() for t in tensors))
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=0, equal_nan=True)
    pairs = [(actual, expected)] if isinstance(actual, torch.Tensor) else zip(actual, expected, strict=True)
    assert all(a.stride() == e.stride() for a, e in pairs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bounds", RANGES)
def test_per_tensor(dtype: torch.dtype, bounds: tuple[int, int]) -> None:
    """With numbers, and with tensors that may switch it off."""
    check(aten.fake_quantize_per_tensor_affine_cachemask, image(dtype), 0.05, 3, *bounds)
    for on in (0, 1):
        qparams = torch.tensor(0.05), torch.tensor([3], dtype=INT32), torch.tensor([on])
        check(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams, image(dtype), *qparams, *bounds)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("zero_dtype", [INT32, torch.float32, torch.float16])
def test_per_channel(dtype: torch.dtype, bounds: tuple[int, int], zero_dtype: torch.dtype) -> None:
    """A zero point that is no integer is added before rounding."""
    zero = torch.tensor([3.3, 7, 0.5]).to(zero_dtype)
    check(
        aten.fake_quantize_per_channel_affine_cachemask,
        image(dtype),
        torch.tensor([0.05, 0.013, 0.11]),
        zero,
        1,
        *bounds,
    )


@pytest.mark.parametrize("dims", [(0, 1, 2, 3), (0, 2, 3, 1), (1, 3, 2, 0)])
def test_layout_is_kept(dims: tuple[int, ...]) -> None:
    """Strides of the results follow those of the input, also without elements."""
    x = image(torch.float32).permute(dims)
    axis = dims.index(1)
    for given in (x, torch.zeros([0 if d != axis else 3 for d in range(4)])):
        check(aten.fake_quantize_per_tensor_affine_cachemask, given, 0.05, 3, 0, 255)
        check(
            aten.fake_quantize_per_channel_affine_cachemask,
            given,
            torch.rand(3) + 0.01,
            torch.zeros(3, dtype=INT32),
            axis,
            0,
            255,
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_learnable(dtype: torch.dtype) -> None:
    """Forward, and the three gradients: sums in another order than eager's."""
    x, scale, zero = image(dtype), torch.tensor([0.05, 0.013, 0.11]), torch.tensor([2.5, 1, 3.5])
    check(aten._fake_quantize_learnable_per_tensor_affine, x, scale[:1], zero[:1], 0, 255)
    check(aten._fake_quantize_learnable_per_channel_affine, x, scale, zero, 1, 0, 255)
    grad = (torch.rand(x.shape) + 0.5).to(dtype)
    x, scale, zero = torch.where(torch.isfinite(x), x, 0.25), scale.to(dtype), zero.to(dtype)
    per_tensor = aten._fake_quantize_learnable_per_tensor_affine_backward
    check(per_tensor, grad, x, scale[:1], zero[:1], 0, 255, 0.7, rtol=2e-5)
    check(aten._fake_quantize_learnable_per_channel_affine_backward, grad, x, scale, zero, 1, 0, 255, 0.7, rtol=2e-5)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (0, 5), (-3, 0), (3, 5), (-1e-5, 1e-4), (0, 0), (-2, 1e-39), (-1e-5, 0), (0, 1e-3)]
)
def test_observer(low: float, high: float, rows: bool, symmetric: bool) -> None:
    """Ranges on both sides of 0, at it, beyond it, and too small to divide by; first and later steps; every state comes out."""
    x = torch.rand(4, 6, generator=torch.Generator().manual_seed(2)) * (high - low) + low
    count = 4 if rows else 1
    for bounds, seen in itertools.product(((0, 255), (-128, 127), (-8, 7)), ((math.inf, -math.inf), (-0.3, 0.2))):
        state = torch.full((count,), seen[0]), torch.full((count,), seen[1]), torch.ones(count)
        zero, on = torch.zeros(count, dtype=INT32), torch.ones(1)
        helper = aten._fused_moving_avg_obs_fq_helper_functional
        check(helper, x, on, on, *state, zero, 0.01, *bounds, 0, rows, symmetric)


@pytest.mark.parametrize("switches", [(0, 0), (0, 1), (1, 0)])
def test_observer_switched_off(switches: tuple[int, int]) -> None:
    """What is switched off neither changes its state nor the result."""
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(3))
    state = torch.tensor([-0.3]), torch.tensor([0.2]), torch.ones(1), torch.zeros(1, dtype=INT32)
    on = [torch.tensor([s]) for s in switches]
    check(aten._fused_moving_avg_obs_fq_helper_functional, x, *on, *state, 0.01, 0, 255, 0, False, False)


def test_training() -> None:
    """A layer with fake-quantised weights trains as in eager, through torch.compile; the observer's state is updated in place."""
    from torch.ao.quantization import FusedMovingAvgObsFakeQuantize, MovingAverageMinMaxObserver

    def steps(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(4)
        layer = torch.nn.Linear(8, 4)
        quantize = FusedMovingAvgObsFakeQuantize(MovingAverageMinMaxObserver, quant_min=0, quant_max=255)

        def loss(x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.linear(quantize(x), layer.weight, layer.bias).square().sum()

        run = torch.compile(loss, backend="bringup", options=OPTIONS) if compiled else loss
        for _ in range(3):
            run(torch.randn(5, 8)).backward()
        return [layer.weight.grad, quantize.scale, quantize.zero_point, *quantize.activation_post_process.buffers()]  # type: ignore[list-item]

    torch.testing.assert_close(steps(True), steps(False))
