"""Sampling images and volumes at the points of a grid, and its gradients.

Along each dimension a point reads a few elements, its taps: one (nearest), two (linear) or four (cubic), with weights that depend on the
point. The sample is the sum over all combinations of taps of the element times the product of their weights, so the gradient of a
coordinate is the same sum with the derivative of that dimension's weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bringup.decompositions.cubic import cubic, cubic_slopes
from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("grid_sample")
aten = torch.ops.aten

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2

Taps = list[tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]]
"""Coordinate of the element, its weight (None is 1) and the derivative of the weight by the point's coordinate (None is 0)."""


@dataclass(frozen=True)
class Sampling:
    """How a grid is read: the operator's arguments."""

    mode: int
    padding: int
    align_corners: bool

    def coordinate(self, grid: torch.Tensor, n: Any) -> tuple[torch.Tensor, torch.Tensor | None, float]:
        """Where a grid of [-1, 1] lies among `n` elements, whether it moves with the grid (0, 1 or -1, None is 1), and how far."""
        scale = (n - 1) / 2 if self.align_corners else n / 2
        x = (grid + 1) * scale if self.align_corners else (grid + 1) * scale - 0.5
        if self.mode == BICUBIC or self.padding == ZEROS:
            return x, None, scale
        return *self.inside(x, n), scale

    def inside(self, x: torch.Tensor, n: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """A coordinate moved into the image by the padding, and the derivative of that; NaN goes to the first element."""
        sign = torch.ones_like(x)
        if self.padding == REFLECTION:
            low, span = (0.0, n - 1) if self.align_corners else (-0.5, n)
            if isinstance(span, int) and span == 0:
                return torch.zeros_like(x), torch.zeros_like(x)
            away = x - low
            distance = aten.abs(away)
            rest, flips = aten.fmod(distance, span), aten.floor(distance / span)
            odd = aten.ne(aten.fmod(flips, 2), 0)
            x = aten.where(odd, span - rest, rest) + low
            sign = aten.where(aten.bitwise_xor(odd, aten.lt(away, 0)), -1.0, sign)
        inner = aten.bitwise_and(aten.gt(x, 0), aten.lt(x, n - 1))
        x = aten.where(aten.gt(x, 0), aten.clamp_max(x, n - 1), 0.0)
        return x, aten.where(inner, sign, 0.0)

    def taps(self, x: torch.Tensor, n: Any) -> Taps:
        """What a point at coordinate `x` reads of `n` elements."""
        if self.mode == NEAREST:
            return [(aten.round(x), None, None)]
        first = aten.floor(x)
        t = x - first
        if self.mode == BILINEAR:
            one = torch.ones_like(t)
            return [(first, 1 - t, aten.neg(one)), (first + 1, t, one)]
        places = [first + k for k in (-1, 0, 1, 2)]
        if self.padding != ZEROS:
            places = [self.inside(p, n)[0] for p in places]
        return list(zip(places, cubic(t), cubic_slopes(t), strict=True))


@dataclass(frozen=True)
class _Read:
    """One combination of taps: flat positions and whether they exist, both [batch, 1, points], and each dimension's tap."""

    place: torch.Tensor
    exists: torch.Tensor
    taps: tuple[Any, ...]

    def weight(self, without: int = -1) -> torch.Tensor | None:
        """The product of the weights, but for dimension `without`, of which the derivative counts."""
        product: torch.Tensor | None = None
        for d, (_, value, slope) in enumerate(self.taps):
            factor = slope if d == without else value
            if factor is not None:
                product = factor if product is None else product * factor
        return product

    def of(self, image: torch.Tensor) -> torch.Tensor:
        """The elements of `image` [batch, channels, elements], 0 where there is none."""
        index = aten.expand(self.place, [image.shape[0], image.shape[1], self.place.shape[2]])
        return aten.where(self.exists, aten.gather(image, 2, index), 0.0)


def _reads(taps: Sequence[Taps], sizes: Sequence[Any]) -> Iterator[_Read]:
    """Every combination of taps, one for each of the dimensions, which are in the order of `sizes`."""
    known = []
    for row, n in zip(taps, sizes, strict=True):
        found = []
        for place, _, _ in row:
            exists = aten.bitwise_and(aten.ge(place, 0), aten.le(place, n - 1))
            found.append((aten._to_copy(aten.where(exists, place, 0.0), dtype=torch.int64), exists))
        known.append(found)
    for choice in itertools.product(*(range(len(row)) for row in taps)):
        place, exists = known[0][choice[0]]
        for d in range(1, len(sizes)):
            p, e = known[d][choice[d]]
            place, exists = place * sizes[d] + p, aten.bitwise_and(exists, e)
        yield _Read(place, exists, tuple(row[k] for row, k in zip(taps, choice, strict=True)))


class _Grid:
    """An image and the points of a grid in it, flattened: [batch, channels, elements] and [batch, 1, points] a dimension."""

    def __init__(self, image: torch.Tensor, grid: torch.Tensor, how: Sampling) -> None:
        self.sizes, self.points = list(image.shape[2:]), list(grid.shape[1:-1])
        self.rows = [image.shape[0], image.shape[1], math.prod(self.sizes)]
        self.image = aten.reshape(widened(image), self.rows)
        self.moves: list[tuple[torch.Tensor | None, float]] = []
        taps = []
        for d, n in enumerate(self.sizes):
            column = aten.select(widened(grid), -1, len(self.sizes) - 1 - d)  # a grid's columns are x, y, z
            x, moves, scale = how.coordinate(aten.reshape(column, [grid.shape[0], 1, math.prod(self.points)]), n)
            self.moves.append((moves, scale))
            taps.append(how.taps(x, n))
        self.reads = list(_reads(taps, self.sizes))


def _sample(image: torch.Tensor, grid: torch.Tensor, how: Sampling) -> torch.Tensor:
    flat = _Grid(image, grid, how)
    total: torch.Tensor | None = None
    for read in flat.reads:
        value, weight = read.of(flat.image), read.weight()
        value = value if weight is None else value * weight
        total = value if total is None else total + value
    assert total is not None
    return narrowed(aten.view(total, [*flat.rows[:2], *flat.points]), image.dtype)


def _gradients(
    grad: torch.Tensor, image: torch.Tensor, grid: torch.Tensor, how: Sampling, mask: Sequence[bool]
) -> tuple[torch.Tensor | None, torch.Tensor]:
    flat = _Grid(image, grid, how)
    grad = aten.reshape(widened(grad), [*flat.rows[:2], math.prod(flat.points)])
    by_image: torch.Tensor | None = None
    if mask[0]:
        by_image = aten.full.default(flat.rows, 0, dtype=grad.dtype, device=grad.device)
        for read in flat.reads:
            weight = read.weight()
            share = aten.where(read.exists, grad if weight is None else grad * weight, 0.0)
            by_image = aten.scatter_add(by_image, 2, aten.expand(read.place, share.shape), share)
        by_image = narrowed(aten.view(by_image, image.shape), image.dtype)
    if how.mode == NEAREST or not mask[1]:
        return by_image, aten.full.default(grid.shape, 0, dtype=grid.dtype, device=grid.device)
    pulls = [aten.sum(grad * read.of(flat.image), [1], True) for read in flat.reads]
    columns = []
    for d, (moves, scale) in reversed(list(enumerate(flat.moves))):
        slope = sum(
            (pull * read.weight(d) for pull, read in zip(pulls[1:], flat.reads[1:], strict=True)),
            pulls[0] * flat.reads[0].weight(d),
        )
        slope = slope * scale
        columns.append(slope if moves is None else slope * moves)
    by_grid = aten.view(aten.cat(columns, 1), [grid.shape[0], len(columns), *flat.points])
    by_grid = aten.clone(aten.permute(by_grid, [0, *range(2, by_grid.dim()), 1]), memory_format=torch.contiguous_format)
    return by_image, narrowed(by_grid, grid.dtype)


@TABLE.register("aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::_grid_sampler_2d_cpu_fallback")
def grid_sampler(
    input: torch.Tensor, grid: torch.Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> torch.Tensor:
    """grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"""
    return _sample(input, grid, Sampling(interpolation_mode, padding_mode, align_corners))


@TABLE.register(
    "aten::grid_sampler_2d_backward",
    "aten::grid_sampler_3d_backward",
    "aten::_grid_sampler_2d_cpu_fallback_backward",
)
def grid_sampler_backward(
    grad_output: torch.Tensor,
    input: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool] = (True, True),
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, ...) -> (Tensor, Tensor)"""
    return _gradients(grad_output, input, grid, Sampling(interpolation_mode, padding_mode, align_corners), output_mask)
