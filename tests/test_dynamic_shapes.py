"""Symbolic sizes as numbers: what arithmetic on them turns into runs on the required kernels too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

import bringup

IMAGE, MATRIX = (2, 3, 8, 10), (6, 8)

CASES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[int, ...]]] = {
    "mean": (lambda x: x.mean([0]), MATRIX),
    "adaptive average pooling": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    "adaptive average pooling to a grid": (lambda x: F.adaptive_avg_pool2d(x, (2, 5)), IMAGE),
    "nearest": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), IMAGE),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE),
    "layer norm": (lambda x: F.layer_norm(x, (x.shape[-1],)), IMAGE),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x), IMAGE),
    "root of a size": (lambda x: x * x.shape[0] ** 0.5, MATRIX),
    "range over a size": (lambda x: torch.arange(x.shape[0]) / x.shape[1] + x.sum(), MATRIX),
}


@pytest.mark.parametrize("name", CASES)
def test_symbolic_sizes_on_the_required_kernels(name: str) -> None:
    """Two sizes, one compilation, no fallback."""
    fn, shape = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(
        fn, backend="bringup", dynamic=True, options={"optional_kernels": False, "fallback": "error"}
    )
    with bringup.recording() as recorded:
        for extra in (0, 3):
            x = torch.randn([s + extra for s in shape])
            assert_close(compiled(x), fn(x))
    assert len(recorded.programs) == 1
