"""The fused transformer encoder layer and multi-head attention that `torch.nn` takes in inference (Vaswani et al., 2017)."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("transformer")
aten = torch.ops.aten


@TABLE.register("aten::_transform_bias_rescale_qkv")
def _transform_bias_rescale_qkv(qkv: torch.Tensor, qkv_bias: torch.Tensor, num_heads: int) -> tuple[torch.Tensor, ...]:
    """_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor)

    (batch, L, 3 D) to three of (batch, heads, L, D / heads), the first of them scaled.
    """
    query, key, value = (_by_head(t, num_heads) for t in aten.chunk(qkv + qkv_bias, 3, -1))
    return query / query.shape[-1] ** 0.5, key, value


def _by_head(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    batch, length, width = tensor.shape
    return aten.clone(
        aten.transpose(aten.reshape(tensor, [batch, length, heads, width // heads]), 1, 2),
        memory_format=torch.contiguous_format,
    )


@TABLE.register("aten::_native_multi_head_attention")
def _native_multi_head_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    mask: torch.Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Any:
    """_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, ...) -> (Tensor, Tensor)"""
    if query.dim() != 3 or query.is_nested:
        return NotImplemented
    pieces = zip((query, key, value), aten.chunk(qkv_weight, 3, 0), aten.chunk(qkv_bias, 3, 0), strict=True)
    q, k, v = (_by_head(aten.linear(t, weight, bias), num_head) for t, weight, bias in pieces)
    scores = aten.matmul(q / q.shape[-1] ** 0.5, aten.transpose(k, -2, -1))
    if mask is None:
        weights = aten._softmax(scores, 3, False)
    else:
        weights = aten._masked_softmax(scores, mask.to(torch.bool), 3, mask_type)
    rows = aten.reshape(aten.transpose(aten.matmul(weights, v), 1, 2), query.shape)
    output = aten.linear(rows, proj_weight, proj_bias)
    if not need_weights:
        return output, None
    return output, aten.sum.dim_IntList(weights, [1]) / num_head if average_attn_weights else weights


@TABLE.register("aten::_transformer_encoder_layer_fwd")
def _transformer_encoder_layer_fwd(
    src: torch.Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: torch.Tensor,
    norm_bias_1: torch.Tensor,
    norm_weight_2: torch.Tensor,
    norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor,
    ffn_bias_1: torch.Tensor,
    ffn_weight_2: torch.Tensor,
    ffn_bias_2: torch.Tensor,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> Any:
    """_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, ...) -> Tensor"""
    if src.is_nested:
        return NotImplemented

    def norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return aten.native_layer_norm(x, [embed_dim], weight, bias, eps)[0]

    def attend(x: torch.Tensor) -> torch.Tensor:
        return _native_multi_head_attention(
            x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type
        )[0]

    def feed_forward(x: torch.Tensor) -> torch.Tensor:
        inner = aten.linear(x, ffn_weight_1, ffn_bias_1)
        return aten.linear(aten.gelu(inner) if use_gelu else aten.relu(inner), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attend(norm(src, norm_weight_1, norm_bias_1))
        return x + feed_forward(norm(x, norm_weight_2, norm_bias_2))
    x = norm(src + attend(src), norm_weight_1, norm_bias_1)
    return norm(x + feed_forward(x), norm_weight_2, norm_bias_2)
