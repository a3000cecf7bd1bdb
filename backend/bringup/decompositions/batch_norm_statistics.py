"""The statistics of batch normalisation alone: mean and variance of each channel (Ioffe and Szegedy, 2015)."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("batch norm statistics")
aten = torch.ops.aten


@TABLE.register("aten::batch_norm_update_stats")
def batch_norm_update_stats(
    input: torch.Tensor, running_mean: torch.Tensor | None, running_var: torch.Tensor | None, momentum: float
) -> Any:
    """batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float momentum) -> (Tensor, Tensor)

    Eager writes to running statistics although the schema does not say so; a call with them is left as it is.
    """
    if running_mean is not None or running_var is not None:
        return NotImplemented
    dims = [0, *range(2, input.dim())]
    variance, mean = aten.var_mean.correction(widened(input), dims, correction=0)
    return narrowed(mean, input.dtype), narrowed(variance, input.dtype)
