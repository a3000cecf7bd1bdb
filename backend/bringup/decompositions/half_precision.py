"""Half precision is computed in float32 and rounded once, as eager's kernels do."""

from __future__ import annotations

import torch

aten = torch.ops.aten


def accumulation_dtype(dtype: torch.dtype) -> torch.dtype:
    """float32 for half precision, else the dtype itself."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def widened(self: torch.Tensor) -> torch.Tensor:
    """Half precision in float32, in which eager's kernels accumulate."""
    return narrowed(self, accumulation_dtype(self.dtype))


def narrowed(result: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Back in the dtype of the result."""
    return result if result.dtype is dtype else aten._to_copy(result, dtype=dtype)
