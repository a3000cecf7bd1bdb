"""Fractional pooling: the maxima of windows that lie at random.

B. Graham, Fractional max-pooling (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.pooling_max import Picked, numbered, picked
from bringup.decompositions.registry import Decompositions
from bringup.decompositions.sliding import per_dimension

TABLE = Decompositions("pooling_fractional")
aten = torch.ops.aten


def _fractional_starts(samples: torch.Tensor, size: Any, kernel: int, count: int) -> torch.Tensor:
    """Where the windows begin, [..., count], from one random number u a plane: floor((i + u) a) - floor(u a), the last one at the end.

    a = (size - kernel) / (count - 1). Graham, Fractional Max-Pooling (2014), section 2, in the arithmetic of the samples' dtype.
    """
    u = aten.unsqueeze(samples, -1)
    end = aten.expand(aten.full.default([1], size - kernel, dtype=torch.int64, device=u.device), [*samples.shape, 1])
    if count == 1:
        return end
    slope = aten.full.default([], size - kernel, dtype=u.dtype, device=u.device) / (count - 1)
    i = aten.arange(count - 1, dtype=u.dtype, device=u.device)
    first, shift = aten._to_copy((i + u) * slope, dtype=torch.int64), aten._to_copy(u * slope, dtype=torch.int64)
    return aten.cat([first - shift, end], -1)


@TABLE.register("aten::fractional_max_pool2d", "aten::fractional_max_pool3d")
def fractional_max_pool(
    self: torch.Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: torch.Tensor
) -> Picked:
    """fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)

    Every plane has windows of its own; an image without a batch takes the first samples. The samples of a plane are for its width and height, or for its depth, height and width.
    """
    dims = 3 if random_samples.shape[-1] == 3 else 2
    kernel, count = per_dimension(kernel_size, dims), per_dimension(output_size, dims)
    planes = list(self.shape[:-dims])
    samples = random_samples if len(planes) == 2 else aten.slice(random_samples, 0, 0, 1)
    samples = aten.reshape(samples, [*planes, dims])
    value: torch.Tensor = aten.contiguous(self)
    index: Any = None
    inner: Any = 1
    for dim in range(-1, -dims - 1, -1):
        n, o, k = value.shape[dim], count[dim], kernel[dim]
        column = aten.select(samples, -1, -1 - dim if dims == 2 else dim)
        starts = aten.unsqueeze(_fractional_starts(column, n, k, o), -1)
        at = aten.reshape(
            starts + aten.arange(k, device=self.device), [*planes, *[1] * (dims + dim), o * k, *[1] * (-dim - 1)]
        )
        shape = [*value.shape]
        shape[dim] = o * k
        at = aten.expand(at, shape)
        places = aten.expand(numbered(value, index, dim, inner), value.shape)
        split = [*shape[: len(shape) + dim], o, k, *shape[len(shape) + dim + 1 :]]
        windows = aten.reshape(aten.gather(value, dim, at), split)
        value, index = picked(windows, aten.reshape(aten.gather(places, dim, at), split), dim)
        inner = inner * n
    return value, index
