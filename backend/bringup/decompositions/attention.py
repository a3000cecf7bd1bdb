"""Scaled dot-product attention and its gradients, from the row-wise logsumexp (Dao et al., "FlashAttention", 2022).

S = scale Q K^T + mask,  L = logsumexp(S),  P = exp(S - L),  O = P V
dV = P^T dO,  dP = dO V^T,  D = sum(dO * O),  dS = P * (dP - D),  dQ = scale dS K,  dK = scale dS^T Q
"""

from __future__ import annotations

import math

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.memory_formats import physical_order
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("attention")
aten = torch.ops.aten


def _scale(query: torch.Tensor, scale: float | None) -> float:
    return 1.0 / query.shape[-1] ** 0.5 if scale is None else scale


def _heads(key: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """Grouped queries: each key head serves several query heads, in order."""
    if key.shape[1] == query.shape[1]:
        return key
    each = query.shape[1] // key.shape[1]
    batch, heads, length, size = key.shape
    return key.unsqueeze(2).expand(batch, heads, each, length, size).reshape(batch, heads * each, length, size)


def _scores(
    query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None, is_causal: bool, scale: float | None
) -> torch.Tensor:
    wide = accumulation_dtype(query.dtype)
    scores = torch.matmul(query.to(wide), _heads(key, query).to(wide).transpose(-2, -1)) * _scale(query, scale)
    if is_causal:
        row = torch.arange(query.shape[-2], device=query.device).unsqueeze(1)
        column = torch.arange(key.shape[-2], device=query.device).unsqueeze(0)
        scores = torch.where(column <= row, scores, torch.full((), -math.inf, dtype=wide, device=query.device))
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return torch.where(mask, scores, torch.full((), -math.inf, dtype=wide, device=query.device))
    return scores + mask.to(wide)


def _laid_out_as(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The layout that eager gives the output: its dimensions lie in memory in the order of the query's."""
    order = physical_order(like, None)
    return tensor.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])


def _by_rows(tensor: torch.Tensor) -> torch.Tensor:
    """The layout that eager gives the rest: heads inside rows."""
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


@TABLE.register("aten::_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, ...) -> (Tensor output, Tensor logsumexp)

    Args:
        query: (batch, heads, L, E); key: (batch, key heads, S, E); value: (batch, key heads, S, E).
    """
    scores = _scores(query, key, attn_mask, is_causal, scale)
    top = torch.amax(scores, -1, keepdim=True)
    top = torch.where(top == -math.inf, torch.zeros_like(top), top)
    weights = torch.exp(scores - top)
    total = torch.sum(weights, -1, keepdim=True)
    product = torch.matmul(weights, _heads(value, query).to(weights.dtype))
    output = torch.where(total == 0, torch.zeros_like(product), product / total)
    logsumexp = (top + torch.log(total)).squeeze(-1)
    return _laid_out_as(output.to(query.dtype), query), _by_rows(logsumexp)


@TABLE.register("aten::_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, ...) -> (Tensor, Tensor, Tensor)"""
    scores = _scores(query, key, attn_mask, is_causal, scale)
    wide = scores.dtype
    rows = logsumexp.unsqueeze(-1)
    weights = torch.where(rows == -math.inf, torch.zeros_like(scores), torch.exp(scores - rows))
    grad = grad_out.to(wide)
    grad_value = torch.matmul(weights.transpose(-2, -1), grad)
    grad_weights = torch.matmul(grad, _heads(value, query).to(wide).transpose(-2, -1))
    delta = torch.sum(grad * out.to(wide), -1, keepdim=True)
    grad_scores = weights * (grad_weights - delta) * _scale(query, scale)
    grad_query = torch.matmul(grad_scores, _heads(key, query).to(wide))
    grad_key = torch.matmul(grad_scores.transpose(-2, -1), query.to(wide))
    return (
        _by_rows(grad_query.to(query.dtype)),
        _by_rows(_sum_heads(grad_key, key).to(key.dtype)),
        _by_rows(_sum_heads(grad_value, value).to(value.dtype)),
    )


def _sum_heads(gradient: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    if gradient.shape[1] == key.shape[1]:
        return gradient
    batch, heads, length, size = gradient.shape
    return gradient.reshape(batch, key.shape[1], heads // key.shape[1], length, size).sum(2)
