"""Windows along one dimension, which pooling and its gradients read elements through.

Pooling treats the dimensions one after the other, the last one first: a sum or a maximum over a box is one over its rows and then over
what they gave. That costs the sum of the kernel's sizes where the whole box at once costs their product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

aten = torch.ops.aten

UNROLLED = 64
"""Windows of at most so many elements are reduced by a running sum or maximum; wider ones are gathered first."""


@dataclass(frozen=True)
class Axis:
    """One dimension of `size` elements and the `count` windows that slide along it.

    Window i reads elements ``i * stride - padding + j * dilation`` for j below `kernel`; those outside of the dimension do not exist.
    """

    size: Any
    count: Any
    kernel: int
    stride: int
    padding: int
    dilation: int

    @property
    def overhang(self) -> Any:
        """How far the last window reaches over the end of the dimension."""
        reach = (self.count - 1) * self.stride - self.padding + (self.kernel - 1) * self.dilation + 1 - self.size
        return max(reach, 0) if isinstance(reach, int) else torch.sym_max(reach, 0)

    def starts(self, device: torch.device) -> torch.Tensor:
        """Where the windows begin, which may be before the dimension does; int64 [count]."""
        return aten.arange(self.count, device=device) * self.stride - self.padding

    def padded(self, x: torch.Tensor, dim: int, value: Any) -> torch.Tensor:
        """`x` with `value` where the windows reach over the ends of dimension `dim`, which counts from the last one."""
        after = self.overhang
        if self.padding == 0 and type(after) is int and after == 0:
            return x
        return aten.constant_pad_nd(x, [0] * (2 * (-dim - 1)) + [self.padding, after], value)

    def part(self, padded: torch.Tensor, dim: int, j: int) -> torch.Tensor:
        """Element j of every window."""
        start = j * self.dilation
        return aten.slice(padded, dim, start, start + (self.count - 1) * self.stride + 1, self.stride)


@dataclass(frozen=True)
class Ranges:
    """Windows given by their first and last elements, int64 [count], `step` apart and at most `width` of them.

    Where `tiles` is true they have the same size and cover the dimension without gaps or overlap.
    """

    first: torch.Tensor
    last: torch.Tensor
    width: Any
    step: int = 1
    tiles: bool = False


def per_dimension(values: Sequence[int] | int, dims: int, default: Sequence[int] = ()) -> list[int]:
    """One value for each of `dims` dimensions: a single one stands for all, none for `default`."""
    if isinstance(values, int):
        values = [values]
    chosen = list(values) or list(default)
    return chosen * dims if len(chosen) == 1 else chosen


def sliding_axes(
    shape: Sequence[Any],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    dims: int,
) -> list[Axis]:
    """The last `dims` dimensions of `shape`; with `ceil_mode` a last window that is not full counts, if it begins before the right padding."""
    kernels = per_dimension(kernel_size, dims)
    strides = per_dimension(stride, dims, kernels)
    paddings, dilations = per_dimension(padding, dims), per_dimension(dilation, dims)
    axes = []
    for n, k, s, p, d in zip(shape[len(shape) - dims :], kernels, strides, paddings, dilations, strict=True):
        free = n + 2 * p - d * (k - 1) - 1
        count = (free + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count = count - 1
        axes.append(Axis(n, count, k, s, p, d))
    return axes


def sliding_ranges(axis: Axis, device: torch.device) -> Ranges:
    """The elements that exist of windows that slide."""
    start, d = axis.starts(device), axis.dilation
    before = aten.clamp_min(aten.neg(start), 0)
    first = start + aten.div(before + (d - 1), d, rounding_mode="floor") * d
    inside = aten.clamp_max(aten.div(axis.size - 1 - start, d, rounding_mode="floor"), axis.kernel - 1)
    return Ranges(aten.clamp_max(first, axis.size - 1), start + inside * d, axis.kernel, d)


def readers(axis: Axis, device: torch.device) -> Ranges:
    """For each element, the windows of dilation 1 that read it: the same sum over them is the gradient of the windows' sums."""
    x = aten.arange(axis.size, device=device) + axis.padding
    s = axis.stride
    first = aten.clamp_min(aten.div(x - axis.kernel + s, s, rounding_mode="floor"), 0)
    last = aten.clamp_max(aten.div(x, s, rounding_mode="floor"), axis.count - 1)
    return Ranges(first, last, -(-axis.kernel // s))


def adaptive_ranges(size: Any, count: Any, device: torch.device) -> Ranges:
    """`count` windows over `size` elements, from floor(i size / count) up to but not with ceil((i + 1) size / count).

    Element x lies in those windows that ``adaptive_ranges(count, size)`` gives for x.
    """
    i = aten.arange(count, device=device)
    first = aten.div(i * size, count, rounding_mode="floor")
    last = aten.div((i + 1) * size + (count - 1), count, rounding_mode="floor") - 1
    if not isinstance(size, int) or not isinstance(count, int):
        return Ranges(first, last, size // count + 2)
    width = max((((k + 1) * size + count - 1) // count - k * size // count for k in range(count)), default=1)
    return Ranges(first, last, width, tiles=count > 0 and size % count == 0 and size > 0)


def take(x: torch.Tensor, dim: int, positions: torch.Tensor) -> torch.Tensor:
    """`x` at positions of dimension `dim`, which counts from the last one; that dimension becomes those of `positions`."""
    return aten.index(x, [None] * (x.dim() + dim) + [positions])


def along(vector: torch.Tensor, dim: int) -> torch.Tensor:
    """A vector that varies along dimension `dim`, which counts from the last one."""
    return aten.view(vector, [vector.shape[0]] + [1] * (-dim - 1))


def gathered(x: torch.Tensor, dim: int, ranges: Ranges) -> torch.Tensor:
    """The windows side by side: dimension `dim` becomes windows and, behind it, their elements; what is missing repeats the last one."""
    if ranges.tiles:
        at = x.dim() + dim
        return aten.reshape(x, [*x.shape[:at], ranges.first.shape[0], ranges.width, *x.shape[at + 1 :]])
    return take(x, dim, _positions(ranges, x.shape[dim]))


def _offsets(ranges: Ranges) -> torch.Tensor:
    steps = aten.arange(ranges.width, device=ranges.first.device)
    return aten.unsqueeze(ranges.first, 1) + steps * ranges.step


def _positions(ranges: Ranges, size: Any) -> torch.Tensor:
    inside = aten.minimum(_offsets(ranges), aten.unsqueeze(ranges.last, 1))
    return aten.clamp(inside, 0, size - 1)


def sum_ranges(x: torch.Tensor, dim: int, ranges: Ranges) -> torch.Tensor:
    """The sum of each window along `dim`, which counts from the last one."""
    if ranges.tiles:
        return aten.sum(gathered(x, dim, ranges), [dim], dtype=x.dtype)
    if isinstance(ranges.width, int) and ranges.width <= UNROLLED:
        result: torch.Tensor | None = None
        for j in range(ranges.width):
            at = ranges.first + j
            part = take(x, dim, aten.clamp(at, 0, x.shape[dim] - 1))
            part = aten.where(along(aten.le(at, ranges.last), dim), part, 0)
            result = part if result is None else result + part
        if result is not None:
            return result
    windows = gathered(x, dim, ranges)
    exists = aten.le(_offsets(ranges), aten.unsqueeze(ranges.last, 1))
    exists = aten.view(exists, [*exists.shape] + [1] * (-dim - 1))
    return aten.sum(aten.where(exists, windows, 0), [dim], dtype=x.dtype)
