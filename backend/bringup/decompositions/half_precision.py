"""Half precision is computed in float32 and rounded once, as eager's kernels do."""

from __future__ import annotations

import torch

aten = torch.ops.aten

_HALF = (torch.float16, torch.bfloat16)


def widened(self: torch.Tensor) -> torch.Tensor:
    """Half precision in float32, in which eager's kernels accumulate."""
    return aten._to_copy(self, dtype=torch.float32) if self.dtype in _HALF else self


def narrowed(result: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Back in the dtype of the result."""
    return result if result.dtype is dtype else aten._to_copy(result, dtype=dtype)
