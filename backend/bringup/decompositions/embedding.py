"""Embeddings: rows of a weight, their gradients, and rows that are scaled down."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.half_precision import widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("embedding")
aten = torch.ops.aten


def zeros(like: torch.Tensor, size: list[Any], dtype: torch.dtype | None = None) -> torch.Tensor:
    """Zeros of `size`, in the dtype of `like` unless another is given."""
    return aten.full.default(size, 0, dtype=dtype or like.dtype, device=like.device)


def column(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """One value a row, which broadcasts with `like`'s rows, in its dtype."""
    return aten.unsqueeze(values, -1).to(like.dtype)


@TABLE.register("aten::embedding_dense_backward")
def embedding_dense_backward(
    grad_output: torch.Tensor, indices: torch.Tensor, num_weights: Any, padding_idx: Any, scale_grad_by_freq: bool
) -> torch.Tensor:
    """embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor"""
    flat = aten.reshape(indices, [-1]).to(torch.int64)
    rows = aten.reshape(widened(grad_output), [flat.shape[0], grad_output.shape[-1]])
    return into_weight(rows, flat, num_weights, padding_idx, scale_grad_by_freq).to(grad_output.dtype)


def into_weight(
    rows: torch.Tensor, indices: torch.Tensor, num_weights: Any, padding_idx: Any, by_frequency: bool
) -> torch.Tensor:
    """Add row i to row `indices[i]` of zeros; padding gets nothing."""
    if by_frequency:
        counts = aten.index_put(zeros(indices, [num_weights]), [indices], aten.ones_like(indices), True)
        rows = rows / column(aten.index(counts, [indices]), rows)
    if padding_idx >= 0:
        rows = aten.where(aten.unsqueeze(indices == padding_idx, -1), 0.0, rows)
    return aten.index_put(zeros(rows, [num_weights, rows.shape[-1]]), [indices], rows, True)


@TABLE.register("aten::embedding_renorm")
def embedding_renorm(self: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor

    The rows that `indices` names are scaled down to `max_norm`; the 1e-7 is eager's.
    """
    flat = aten.reshape(indices, [-1])
    rows = aten.index(self, [flat])
    norms = aten.linalg_vector_norm(widened(rows), norm_type, [1], True)
    scaled = (rows * (max_norm / (norms + 1e-7))).to(self.dtype)
    return aten.index_put(self, [flat], aten.where(norms > max_norm, scaled, rows))
