"""Layouts of dense tensors: the order of their dimensions in memory, and the formats that have a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

aten = torch.ops.aten

CHANNELS_INNERMOST: dict[torch.memory_format | None, tuple[int, ...]] = {
    torch.channels_last: (0, 2, 3, 1),
    torch.channels_last_3d: (0, 2, 3, 4, 1),
}
"""Dimensions from the outermost in memory to the innermost, in the formats that have the channels there."""


def physical_order(self: torch.Tensor, memory_format: torch.memory_format | None) -> list[int]:
    """Dimensions of `self` from the outermost in memory to the innermost, as a new tensor of `memory_format` has them.

    None and preserve_format keep the order of the strides (ties keep the order of the dimensions).
    """
    dims = list(range(self.dim()))
    if memory_format in CHANNELS_INNERMOST:
        return list(CHANNELS_INNERMOST[memory_format])
    if memory_format is torch.contiguous_format:
        return dims
    strides = self.stride()
    if any(isinstance(s, torch.SymInt) for s in strides) and self.is_contiguous():
        return dims
    return sorted(dims, key=lambda d: -strides[d]) if _ordered(self) else dims


def _ordered(self: torch.Tensor) -> bool:
    """Whether strides say an order: no dimension of more than one element is expanded (stride 0)."""
    return not any(stride == 0 and size != 1 for stride, size in zip(self.stride(), self.shape, strict=True))


def dense_strides(shape: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """Strides of a dense tensor of `shape` whose dimensions lie in memory in `order`, outermost first."""
    strides: list[Any] = [0] * len(shape)
    step: Any = 1
    for dim in reversed(order):
        strides[dim] = step
        step = step * shape[dim]
    return strides


def channels_last(self: torch.Tensor) -> torch.memory_format | None:
    """The format with channels innermost that the strides of an image or volume batch follow, or None."""
    if self.dim() not in (4, 5) or self.stride(1) == 0:
        return None
    step: Any = 0
    for dim in [1, *range(self.dim() - 1, 1, -1), 0]:
        n, stride = self.shape[dim], self.stride(dim)
        if n == 0 or stride < step or (dim == 0 and step == self.stride(1)):
            return None
        step = stride * n if n > 1 else stride
    return torch.channels_last if self.dim() == 4 else torch.channels_last_3d


def in_format_of(result: torch.Tensor, self: torch.Tensor, *, volumes: bool = False) -> torch.Tensor:
    """`result` with channels innermost where the strides of `self` have them there, else contiguous.

    Of eager's kernels for volumes only the sliding maximum keeps the format (`volumes`).
    """
    last = channels_last(self) if self.dim() == 4 or volumes else None
    if list(result.stride()) == dense_strides(result.shape, physical_order(result, last or torch.contiguous_format)):
        return result
    return aten.clone(result, memory_format=last or torch.contiguous_format)
