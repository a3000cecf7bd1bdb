"""What each output element of an interpolation reads along one dimension: a few input elements, its taps, and their weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from bringup.decompositions.cubic import cubic, inner, outer

aten = torch.ops.aten


@dataclass(frozen=True)
class Taps:
    """What each output element along one dimension reads: positions int64 [out, taps] and weights [out, taps].

    Where `exists` is given and false, a tap is none and its position is only valid.
    """

    positions: torch.Tensor
    weights: torch.Tensor
    exists: torch.Tensor | None = None


@dataclass(frozen=True)
class Line:
    """One dimension: `n` input elements, `out` output elements, and how they lie over each other."""

    n: Any
    out: Any
    align_corners: bool
    scale: float | None
    dtype: torch.dtype
    device: torch.device

    @property
    def step(self) -> Any:
        """How many input elements apart two output elements are."""
        if self.align_corners:
            return (self.n - 1) / (self.out - 1) if self.out > 1 else 0.0
        return 1.0 / self.scale if self.scale is not None and self.scale > 0 else self.n / self.out

    def numbers(self, count: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """0, 1, 2, ..."""
        return aten.arange(count, dtype=dtype or self.dtype, device=self.device)

    def sources(self) -> torch.Tensor:
        """The coordinate of each output element among the input elements' centres."""
        i = self.numbers(self.out)
        return i * self.step if self.align_corners else (i + 0.5) * self.step - 0.5


Kind = Callable[[Line], Taps]


def linear(line: Line) -> Taps:
    """The two elements around a coordinate; before the first one, that alone."""
    x = aten.clamp(line.sources(), 0, line.n - 1)
    first = aten.floor(x)
    t = x - first
    at = aten._to_copy(first, dtype=torch.int64)
    return Taps(aten.stack([at, aten.clamp_max(at + 1, line.n - 1)], 1), aten.stack([1 - t, t], 1))


def bicubic(line: Line) -> Taps:
    """The four elements around a coordinate; beyond the ends, the last one again."""
    x = line.sources()
    first = aten.floor(x)
    around = aten.unsqueeze(aten._to_copy(first, dtype=torch.int64), 1) + line.numbers(4, torch.int64) - 1
    return Taps(aten.clamp(around, 0, line.n - 1), aten.stack(cubic(x - first), 1))


def nearest(line: Line, offset: float = 0.0) -> Taps:
    """The element in which an output element begins (or, with an offset of a half, has its centre)."""
    i = line.numbers(line.out, torch.float32)
    step = aten.full.default([], line.step, dtype=torch.float32, device=line.device)
    same = isinstance(line.n, int) and isinstance(line.out, int) and line.n == line.out
    at = aten._to_copy(aten.floor(i if same else (i + offset) * step), dtype=torch.int64)
    at = aten.unsqueeze(aten.clamp_max(at, line.n - 1), 1)
    return Taps(at, aten.full.default(at.shape, 1, dtype=line.dtype, device=line.device))


def nearest_exact(line: Line) -> Taps:
    """The element in which an output element has its centre."""
    return nearest(line, 0.5)


def _triangle(x: torch.Tensor) -> torch.Tensor:
    return aten.clamp_min(1 - aten.abs(x), 0)


def _keys(x: torch.Tensor) -> torch.Tensor:
    """Keys' cubic with the parameter -0.5, which reproduces quadratics."""
    d, a = aten.abs(x), -0.5
    near, far = inner(d, a), outer(d, a)
    return aten.where(aten.lt(d, 1), near, aten.where(aten.lt(d, 2), far, 0.0))


def _lanczos(x: torch.Tensor) -> torch.Tensor:
    """sinc(x) sinc(x / 3) for x between -3 and 3."""
    inside = aten.bitwise_and(aten.ge(x, -3), aten.lt(x, 3))
    return aten.where(inside, aten.sinc(x) * aten.sinc(x / 3), 0.0)


def antialiased(kernel: Callable[[torch.Tensor], torch.Tensor], width: int) -> Kind:
    """A kernel of so many elements, which is stretched where the output is coarser than the input; weights that add up to 1."""

    def taps(line: Line) -> Taps:
        stretch = torch.sym_max(line.step, 1.0)
        support = width / 2 * stretch
        centre = (line.numbers(line.out) + 0.5) * line.step
        first = aten._to_copy(aten.clamp_min(centre - support + 0.5, 0), dtype=torch.int64)
        end = aten.clamp_max(aten._to_copy(centre + support + 0.5, dtype=torch.int64), line.n)
        at = aten.unsqueeze(first, 1) + line.numbers(math.ceil(support) * 2 + 1, torch.int64)
        exists = aten.lt(at, aten.unsqueeze(end, 1))
        weight = kernel((aten._to_copy(at, dtype=line.dtype) - aten.unsqueeze(centre, 1) + 0.5) / stretch)
        weight = aten.where(exists, weight, 0.0)
        total = aten.sum(weight, [1], True)
        weight = aten.where(aten.eq(total, 0), weight, weight / total)
        return Taps(aten.clamp(at, 0, line.n - 1), weight, exists)

    return taps


TRIANGLE = antialiased(_triangle, 2)
CUBIC = antialiased(_keys, 4)
LANCZOS = antialiased(_lanczos, 6)
