"""Repetition lies in memory in rows whatever is repeated, and what was captured with eager's strides views by them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

OPTIONS: tuple[dict[str, Any], ...] = tuple({"optional_kernels": o, "fallback": "error"} for o in (True, False))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_view_of_a_repeated_permutation(options: dict[str, Any], dynamic: bool) -> None:
    """A position bias, as speech models make it, with its gradient."""

    def fn(bias: torch.Tensor) -> torch.Tensor:
        heads, length = bias.shape[2], bias.shape[0]
        return bias.permute(2, 0, 1).unsqueeze(0).repeat(2, 1, 1, 1).view(2 * heads, length, length) * 2

    ours, theirs = (torch.arange(19.0 * 19 * 4).reshape(19, 19, 4).requires_grad_() for _ in range(2))
    result = torch.compile(fn, backend="bringup", options=options, dynamic=dynamic)(ours)
    assert torch.equal(result, fn(theirs))
    assert result.stride() == fn(theirs).stride()
    result.square().sum().backward()
    fn(theirs).square().sum().backward()
    assert torch.equal(ours.grad, theirs.grad)  # type: ignore[arg-type]


@pytest.mark.parametrize("repeats", [[2, 1, 3], [1, 1, 1], [2, 3, 1, 2], [0, 1, 1], [1, 0, 2, 1]])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [0, 2, 1]])
def test_layout_of_repeat(repeats: list[int], order: list[int]) -> None:
    """Values and strides of eager, new dimensions and none at all included."""
    x = torch.rand(2, 3, 4).permute(order)

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x.repeat(repeats)

    result = torch.compile(fn, backend="bringup", options=OPTIONS[1], dynamic=False)(x)
    assert torch.equal(result, fn(x))
    assert result.stride() == fn(x).stride()
