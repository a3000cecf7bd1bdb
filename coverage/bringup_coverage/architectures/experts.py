"""Mixtures of experts."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.encoder_decoders import T5, WIDTHS
from bringup_coverage.architectures.row import Architecture, assemble
from bringup_coverage.architectures.tokens import SIZES, labelled, translated


def experts(model_type: str, **settings: Any) -> Architecture:
    """A causal language model whose layers choose among experts."""
    chosen = {"num_key_value_heads": 2, "num_experts_per_tok": 2} | SIZES | settings
    return Architecture(model_type, "experts", partial(assemble, model_type, "AutoModelForCausalLM", chosen, labelled))


def sparse_translator(model_type: str, **settings: Any) -> Architecture:
    """A sequence-to-sequence model whose layers choose among experts."""
    build = partial(assemble, model_type, "AutoModelForSeq2SeqLM", {**SIZES, **settings}, translated)
    return Architecture(model_type, "experts", build)


_LOCAL: dict[str, Any] = {"num_local_experts": 4}
_QWEN: dict[str, Any] = {"num_experts": 4, "moe_intermediate_size": 24, "decoder_sparse_step": 1}
_DEEPSEEK: dict[str, Any] = {
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_group": 2,
    "topk_group": 1,
    "num_key_value_heads": 4,
}

EXPERTS: tuple[Architecture, ...] = (
    experts("deepseek_v2", **_DEEPSEEK),
    experts("deepseek_v3", **_DEEPSEEK),
    experts("dots1", **_DEEPSEEK),
    experts(
        "ernie4_5_moe",
        moe_num_experts=4,
        moe_k=2,
        moe_intermediate_size=24,
        moe_num_shared_experts=1,
        moe_layer_start_index=1,
        moe_layer_end_index=1,
    ),
    experts("flex_olmo", num_experts=4),
    experts("glm4_moe", head_dim=8, **_DEEPSEEK),
    experts("gpt_oss", head_dim=8, sliding_window=8, **_LOCAL),
    experts("granitemoe", **_LOCAL),
    experts("granitemoeshared", shared_intermediate_size=24, **_LOCAL),
    experts("jetmoe", kv_channels=8, num_key_value_heads=2, **_LOCAL),
    experts("minimax", head_dim=8, block_size=8, layer_types=["linear_attention", "full_attention"], **_LOCAL),
    experts("mixtral", **_LOCAL),
    sparse_translator(
        "nllb-moe", num_experts=4, encoder_sparse_step=1, decoder_sparse_step=1, expert_capacity=16, **WIDTHS
    ),
    experts("olmoe", num_experts=4),
    experts("phimoe", **_LOCAL),
    experts("qwen2_moe", shared_expert_intermediate_size=24, **_QWEN),
    experts("qwen3_moe", head_dim=8, **_QWEN),
    sparse_translator(
        "switch_transformers",
        num_experts=4,
        num_sparse_encoder_layers=1,
        num_sparse_decoder_layers=1,
        expert_capacity=16,
        **T5,
    ),
)
