"""Batch normalisation in training: as exact as eager, whose kernel adds up in float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import bringup

MEAN = 1
"""Which of the results the running mean is."""

Operands = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def step(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, mean: torch.Tensor, var: torch.Tensor) -> Any:
    """The output; the running statistics are updated in place."""
    return torch.nn.functional.batch_norm(x, mean, var, weight, bias, True, 0.1, 1e-3)


def operands(offset: float, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Operands:
    """Input with values about `offset`, weight, bias, running mean and variance."""
    torch.manual_seed(5)
    x = torch.randn(shape) + offset
    channels = [torch.randn(shape[1]), torch.randn(shape[1]), torch.zeros(shape[1]), torch.ones(shape[1])]
    x, weight, bias, mean, var = (t.to(dtype) for t in (x, *channels))
    return x.requires_grad_(), weight.requires_grad_(), bias.requires_grad_(), mean, var


def results(function: Any, given: Operands) -> list[torch.Tensor]:
    """Output, running statistics and gradients."""
    output = function(*given)
    torch.manual_seed(6)
    grads = torch.autograd.grad(output, given[:3], torch.randn(output.shape).to(output.dtype))
    return [output, *given[3:], *grads]


@pytest.mark.parametrize("offset", [0.0, 3.0, 30.0, 1000.0])
@pytest.mark.parametrize("shape", [(2, 16, 1, 1), (2, 16, 2, 2), (8, 16, 8, 8), (8, 16)])
def test_required_kernels_are_as_exact_as_eager(offset: float, shape: tuple[int, ...]) -> None:
    """Far from zero the first mean's rounding error would be most of the error; it is measured and taken off."""
    exact = results(step, operands(offset, shape, torch.float64))
    eager = results(step, operands(offset, shape))
    compiled = bringup.compile_function(step, options={"optional_kernels": False, "fallback": "error"})
    spread = float(operands(offset, shape)[0].detach().abs().mean())
    for index, (a, e, reference) in enumerate(
        zip(results(compiled, operands(offset, shape)), eager, exact, strict=True)
    ):
        ours, theirs = (float((t.double() - reference).abs().mean()) for t in (a, e))
        unit = spread if index == MEAN else float(reference.abs().mean())  # a mean of zero is as exact as what it is of
        assert ours <= 1.5 * theirs + 1e-7 * unit, f"result {index}: {ours}, eager {theirs}"


def test_fused_kernel_gives_eagers_own_numbers() -> None:
    """Forward and backward are the host's kernels."""
    compiled = bringup.compile_function(step, options={"fallback": "error"})
    for a, e in zip(
        results(compiled, operands(3.0, (2, 16, 2, 2))), results(step, operands(3.0, (2, 16, 2, 2))), strict=True
    ):
        assert torch.equal(a, e)
