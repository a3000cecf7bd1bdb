"""Histograms.

The bin of a value is found per dimension; a value outside the outer edges, or NaN, is counted in a bin of its own that is cut off. The last
bin holds its right edge too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("histograms")
aten = torch.ops.aten


def _limits(values: torch.Tensor, low: float, high: float, margin: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The outer edges: as given, or from the data where they are equal; a single point is widened by `margin` on both sides."""
    if low != high:
        return aten.full.default([], low, dtype=values.dtype, device=values.device), aten.full.default(
            [], high, dtype=values.dtype, device=values.device
        )
    if values.numel() == 0:
        first = last = aten.full.default([], low, dtype=values.dtype, device=values.device)
    else:
        first, last = aten.amin(values), aten.amax(values)
    single = aten.eq(first, last)
    return aten.where(single, first - margin, first), aten.where(single, last + margin, last)


def _edges(first: torch.Tensor, last: torch.Tensor, bins: int) -> torch.Tensor:
    """bins + 1 equally spaced edges, counted from the nearer end."""
    step = (last - first) / bins
    n = aten.arange.start_step(0, bins + 1, 1, dtype=first.dtype, device=first.device)
    return aten.where(n < (bins + 1) // 2, first + step * n, last - step * (bins - n))


def _inside(values: torch.Tensor, edges: torch.Tensor, bins: int) -> torch.Tensor:
    return aten.bitwise_and(values >= edges[0], values <= edges[bins])


def _even_bin(values: torch.Tensor, edges: torch.Tensor, *, search: bool) -> torch.Tensor:
    """The bin by position between the outer edges; with `search`, corrected against the edges next to it."""
    bins = edges.shape[0] - 1
    first, last = edges[0], edges[bins]
    inside = _inside(values, edges, bins)
    place = aten._to_copy(aten.where(inside, (values - first) * bins / (last - first), 0.0), dtype=torch.int64)
    place = aten.clamp(place, 0, bins)
    if search:
        low = aten.clamp(place - 1, 0, bins)
        steps = [aten.clamp(low + k, 0, bins) for k in range(3)]
        above = [aten._to_copy(aten.index(edges, [s]) <= values, dtype=torch.int64) for s in steps]
        reach = [aten._to_copy(low + k < aten.clamp(place + 2, 0, bins + 1), dtype=torch.int64) for k in range(3)]
        place = low - 1 + above[0] * reach[0] + above[1] * reach[1] + above[2] * reach[2]
    return aten.where(inside, aten.clamp(place, 0, bins - 1), bins)


def _uneven_bin(values: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """The bin between the edges that enclose the value."""
    bins = edges.shape[0] - 1
    place = aten.searchsorted(edges, values, right=True) - 1
    return aten.where(_inside(values, edges, bins), aten.clamp(place, 0, bins - 1), bins)


def _count(
    places: Sequence[torch.Tensor], bins: Sequence[int], dtype: torch.dtype, weight: torch.Tensor | None
) -> torch.Tensor:
    """The sum of the weights in every combination of bins, without the bin for what is outside."""
    flat = places[0]
    for place, n in zip(places[1:], bins[1:], strict=True):
        flat = flat * (n + 1) + place
    ones = (
        aten.full.default(flat.shape, 1, dtype=dtype, device=flat.device)
        if weight is None
        else aten.reshape(weight, [-1])
    )
    total = aten.full.default([math.prod(n + 1 for n in bins)], 0, dtype=dtype, device=flat.device)
    result = aten.view(aten.scatter_add(total, 0, flat, ones), [n + 1 for n in bins])
    for dim, n in enumerate(bins):
        result = aten.slice(result, dim, 0, n)
    return aten.clone(result, memory_format=torch.contiguous_format)


def _density(hist: torch.Tensor, edges: Sequence[torch.Tensor]) -> torch.Tensor:
    """Counts over the total and over each bin's volume."""
    hist = hist / aten.sum(hist)
    for dim, edge in enumerate(edges):
        width = edge[1:] - edge[:-1]
        shape = [1] * hist.dim()
        shape[dim] = width.shape[0]
        hist = hist / aten.view(width, shape)
    return hist


@TABLE.register("aten::histc")
def histc(self: torch.Tensor, bins: int = 100, min: float = 0, max: float = 0) -> torch.Tensor:
    """histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor"""
    values = aten.reshape(self, [-1])
    first, last = _limits(values, min, max, 1.0)
    # only the outer edges are read
    edges = aten.cat([aten.expand(first, [bins]), aten.view(last, [1])])
    return _count([_even_bin(values, edges, search=False)], [bins], self.dtype, None)


def _equal_edges(points: torch.Tensor, bins: Sequence[int], limits: Sequence[float] | None) -> list[torch.Tensor]:
    unknown = (0.0, 1.0) if points.shape[0] == 0 else (0.0, 0.0)  # no data: the unit interval
    pairs = [unknown] * len(bins) if limits is None else list(zip(limits[::2], limits[1::2], strict=True))
    if limits is not None:  # a range of one point is widened without a look at the data
        pairs = [(a, b) if a != b else (a - 0.5, b + 0.5) for a, b in pairs]
    return [_edges(*_limits(points[:, d], *pairs[d], 0.5), n) for d, n in enumerate(bins)]


@TABLE.register("aten::histogram.bin_ct")
def histogram(
    self: torch.Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """histogram.bin_ct(Tensor self, int bins=100, *, float[]? range, Tensor? weight, bool density) -> (Tensor hist, Tensor bin_edges)"""
    values = aten.reshape(self, [-1])
    edges = _equal_edges(aten.unsqueeze(values, 1), [bins], range)[0]
    hist = _count([_even_bin(values, edges, search=True)], [bins], self.dtype, weight)
    return _density(hist, [edges]) if density else hist, edges


@TABLE.register("aten::histogram.bins_tensor")
def histogram_between(
    self: torch.Tensor, bins: torch.Tensor, *, weight: torch.Tensor | None = None, density: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"""
    values = aten.reshape(self, [-1])
    hist = _count([_uneven_bin(values, bins)], [bins.shape[0] - 1], self.dtype, weight)
    return _density(hist, [bins]) if density else hist, aten.clone(bins)


def _points(self: torch.Tensor) -> torch.Tensor:
    return aten.reshape(self, [-1, self.shape[-1]])


@TABLE.register("aten::_histogramdd_bin_edges")
def _histogramdd_bin_edges(
    self: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> list[torch.Tensor]:
    """_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor[]"""
    return _equal_edges(_points(self), bins, range)


@TABLE.register("aten::_histogramdd_from_bin_cts")
def _histogramdd_from_bin_cts(
    self: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> torch.Tensor:
    """_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor"""
    points = _points(self)
    edges = _equal_edges(points, bins, range)
    places = [_even_bin(points[:, d], edge, search=True) for d, edge in enumerate(edges)]
    hist = _count(places, bins, self.dtype, weight)
    return _density(hist, edges) if density else hist


@TABLE.register("aten::_histogramdd_from_bin_tensors")
def _histogramdd_from_bin_tensors(
    self: torch.Tensor, bins: Sequence[torch.Tensor], *, weight: torch.Tensor | None = None, density: bool = False
) -> torch.Tensor:
    """_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor"""
    points = _points(self)
    places = [_uneven_bin(points[:, d], edge) for d, edge in enumerate(bins)]
    hist = _count(places, [edge.shape[0] - 1 for edge in bins], self.dtype, weight)
    return _density(hist, bins) if density else hist
