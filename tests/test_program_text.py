"""Golden text of programs. ``EXPECTTEST_ACCEPT=1`` rewrites it; a diff must read like a review."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from expecttest import TestCase

import bringup


def text_of(fn: Callable[..., Any], *args: torch.Tensor, **options: Any) -> str:
    """The programs of a function, without the file's line numbers."""
    torch._dynamo.reset()
    text = bringup.explain(fn, *args, options=options)
    return re.sub(r"  # .*", "", text)


class ProgramText(TestCase):
    """One program of each kind."""

    def test_linear_relu(self) -> None:
        """A product, a bias and an activation; the optional fused kernels are in use."""
        w, b = torch.ones(4, 3), torch.ones(3)
        text = text_of(lambda x: torch.relu(torch.addmm(b, x, w)), torch.ones(2, 4))
        self.assertExpectedInline(
            text,
            """\
program inference for sim
  input %arg0_1: float32[3]
  input %arg1_1: float32[2, 4]
  input %arg2_1: float32[4, 3]
  %addmm: float32[2, 3] = matrix aten::addmm(%arg0_1, %arg1_1, %arg2_1)
  %relu: float32[2, 3] = vector aten::relu(%addmm)
  return %relu
""",
        )

    def test_required_kernels_only(self) -> None:
        """The same on the required kernels."""
        w, b = torch.ones(4, 3), torch.ones(3)
        text = text_of(lambda x: torch.relu(torch.addmm(b, x, w)), torch.ones(2, 4), optional_kernels=False)
        self.assertExpectedInline(
            text,
            """\
program inference for sim
  input %arg0_1: float32[3]
  input %arg1_1: float32[2, 4]
  input %arg2_1: float32[4, 3]
  constant %_folded_full: float32[]
  constant %_folded_full_1: float32[]
  %mm: float32[2, 3] = matrix aten::mm(%arg1_1, %arg2_1)
  %add: float32[2, 3] = vector aten::add.Tensor(%arg0_1, %mm)
  %le: bool[2, 3] = vector aten::le.Tensor(%add, %_folded_full)
  %where: float32[2, 3] = vector aten::where.self(%le, %_folded_full_1, %add)
  return %where
""",
        )

    def test_views_and_aliases(self) -> None:
        """A view shares memory; the text says whose."""
        self.assertExpectedInline(
            text_of(lambda x: x.t()[1:].exp(), torch.ones(2, 3)),
            """\
program inference for sim
  input %arg0_1: float32[2, 3]
  %permute: float32[3, 2] alias of %arg0_1 = memory aten::permute(%arg0_1, [1, 0])
  %slice_1: float32[2, 2] alias of %permute = memory aten::slice.Tensor(%permute, 0, 1, 9223372036854775807)
  %exp: float32[2, 2] = vector aten::exp(%slice_1)
  return %exp
""",
        )

    def test_input_mutation(self) -> None:
        """A write is an effect of its instruction."""
        self.assertExpectedInline(
            text_of(lambda x: x.mul_(2).sum(), torch.ones(2)),
            """\
program inference for sim
  input %arg0_1: float32[2]
  %mul: float32[2] = vector aten::mul.Tensor(%arg0_1, 2)
  %sum_1: float32[] = vector aten::sum(%mul)
  %copy_: float32[2] alias of %arg0_1 = memory aten::copy_(%arg0_1, %mul) writes %arg0_1
  return %sum_1
""",
        )

    def test_random(self) -> None:
        """Random instructions say so and are never merged."""
        self.assertExpectedInline(
            text_of(lambda: torch.rand(2) + torch.rand(2), optional_kernels=False),
            """\
program inference for sim
  constant %_folded_full: float32[2]
  constant %_folded_full_1: float32[2]
  %uniform: float32[2] = vector aten::uniform(%_folded_full) random
  %uniform_1: float32[2] = vector aten::uniform(%_folded_full_1) random
  %add: float32[2] = vector aten::add.Tensor(%uniform, %uniform_1)
  return %add
""",
        )

    def test_symbolic_sizes(self) -> None:
        """Sizes are expressions."""
        torch._dynamo.config.assume_static_by_default = False
        try:
            self.assertExpectedInline(
                text_of(lambda x: torch.cat([x, x]).exp(), torch.ones(5, 3)),
                """\
program inference for sim
  input %arg0_1: scalar
  input %arg1_1: scalar
  input %arg2_1: float32[s77, s27]
  %cat: float32[2*s77, s27] = memory aten::cat([%arg2_1, %arg2_1])
  %exp: float32[2*s77, s27] = vector aten::exp(%cat)
  return %exp
""",
            )
        finally:
            torch._dynamo.config.assume_static_by_default = True

    def test_regions(self) -> None:
        """Branches are nested programs."""
        text = text_of(lambda x: torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,)), torch.ones(2))
        self.assertExpectedInline(
            text,
            """\
program inference for sim
  input %arg0_1: float32[2]
  @region0 =
    program true_graph_0 for sim
      input %arg0_1: float32[2]
      %sin: float32[2] = vector aten::sin(%arg0_1)
      return %sin
  @region1 =
    program false_graph_0 for sim
      input %arg0_1: float32[2]
      %cos: float32[2] = vector aten::cos(%arg0_1)
      return %cos
  %sum_1: float32[] = vector aten::sum(%arg0_1)
  %gt: bool[] = vector aten::gt.Scalar(%sum_1, 0)
  %cond_0: float32[2] = host region::cond(%gt, @region0, @region1, [%arg0_1])
  return %cond_0
""",
        )
