"""Gradients of bags of embeddings, to the weight and to the samples' weights."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.embedding import column, into_weight, zeros
from bringup.decompositions.embedding_bag import MAX, MEAN, bag_of
from bringup.decompositions.half_precision import widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("embedding_bag_backward")
aten = torch.ops.aten


@TABLE.register("aten::_embedding_bag_backward")
def _embedding_bag_backward(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: Any,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> Any:
    """_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, ...) -> Tensor"""
    if sparse:
        return NotImplemented
    return _dense(
        grad, indices, bag_of(offsets, indices.shape[0]), bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


@TABLE.register("aten::_embedding_bag_dense_backward")
def _dense(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: Any,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> torch.Tensor:
    """_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, ...) -> Tensor"""
    wide = widened(grad)
    sizes = aten.slice(bag_size, 0, 0, grad.shape[0])
    if mode == MAX:
        filled = aten.where(aten.unsqueeze(aten.gt(sizes, 0), -1), wide, 0.0)
        start = zeros(wide, [num_weights, grad.shape[1]])
        return aten.scatter_add(start, 0, maximum_indices.to(torch.int64), filled).to(grad.dtype)
    bag, place = offset2bag.to(torch.int64), indices.to(torch.int64)
    if mode == MEAN:
        wide = wide / column(aten.clamp(sizes, 1), wide)
    rows = aten.index(wide, [bag])
    if per_sample_weights is not None:
        rows = rows * column(per_sample_weights, rows)
    return into_weight(rows, place, num_weights, padding_idx, scale_grad_by_freq).to(grad.dtype)


@TABLE.register("aten::_embedding_bag_per_sample_weights_backward")
def _embedding_bag_per_sample_weights_backward(
    grad: torch.Tensor,
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    mode: int,
    padding_idx: int = -1,
) -> torch.Tensor:
    """_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, ...) -> Tensor"""
    place = indices.to(torch.int64)
    rows = aten.index(widened(grad), [bag_of(offsets, indices.shape[0])])
    products = aten.sum.dim_IntList(rows * aten.index(widened(weight), [place]), [1])
    if padding_idx >= 0:
        products = aten.where(aten.eq(place, padding_idx), 0.0, products)
    return products.to(grad.dtype)
