"""Searching in sorted sequences, and histograms.

Bisection (Knuth, TAOCP 3, 6.2.1) on all values at once: ceil(log2(n + 1)) steps narrow [start, end) to one place. A step compares as eager's
does, so that NaN and unsorted sequences end where eager's search ends.
"""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.rules import scalar_as_tensor

TABLE = Decompositions("search")
aten = torch.ops.aten


def _bisect(rows: torch.Tensor, values: torch.Tensor, right: bool, sorter: torch.Tensor | None) -> torch.Tensor:
    """Places (int64) of `values` [..., m] in the sequences `rows` [..., n]."""
    n = rows.shape[-1]
    start = aten.full.default(values.shape, 0, dtype=torch.int64, device=values.device)
    if type(n) is int and n == 0:
        return start
    end = start + n
    last = n - 1
    for _ in range(int(n).bit_length()):
        middle = aten.bitwise_right_shift(start + end, 1)
        place = aten.minimum(middle, aten.full.default([], last, dtype=torch.int64, device=values.device))
        if sorter is not None:
            place = aten.gather(sorter, -1, place)
        found = aten.gather(rows, -1, place)
        reached = aten.gt(found, values) if right else aten.ge(found, values)
        open_ = aten.lt(start, end)
        start, end = (
            aten.where(aten.bitwise_and(open_, aten.bitwise_not(reached)), middle + 1, start),
            aten.where(aten.bitwise_and(open_, reached), middle, end),
        )
    return start


@TABLE.register("aten::searchsorted.Tensor")
def searchsorted(
    sorted_sequence: torch.Tensor,
    self: torch.Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:
    """searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32, bool right, str? side, Tensor? sorter) -> Tensor"""
    if sorted_sequence.dtype != self.dtype:
        common = torch.promote_types(sorted_sequence.dtype, self.dtype)
        sorted_sequence, self = aten._to_copy(sorted_sequence, dtype=common), aten._to_copy(self, dtype=common)
    if sorted_sequence.dim() == 1:  # one sequence for all values
        values = aten.reshape(self, [-1])
        places = aten.view(_bisect(sorted_sequence, values, right or side == "right", sorter), self.shape)
    else:
        places = _bisect(sorted_sequence, self, right or side == "right", sorter)
    return aten._to_copy(places, dtype=torch.int32) if out_int32 else places


@TABLE.register("aten::searchsorted.Scalar")
def searchsorted_scalar(sorted_sequence: torch.Tensor, self: Any, **options: Any) -> torch.Tensor:
    """searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, ...) -> Tensor"""
    return searchsorted(sorted_sequence, scalar_as_tensor(self, sorted_sequence), **options)


@TABLE.register("aten::bucketize.Tensor")
def bucketize(
    self: torch.Tensor, boundaries: torch.Tensor, *, out_int32: bool = False, right: bool = False
) -> torch.Tensor:
    """bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


@TABLE.register("aten::bucketize.Scalar")
def bucketize_scalar(
    self: Any, boundaries: torch.Tensor, *, out_int32: bool = False, right: bool = False
) -> torch.Tensor:
    """bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""
    return searchsorted_scalar(boundaries, self, out_int32=out_int32, right=right)
