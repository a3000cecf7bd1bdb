"""State-space, recurrent and hybrid models."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.row import Architecture, Inputs, assemble
from bringup_coverage.architectures.tokens import SIZES, labelled, unmasked


def recurrent(model_type: str, *, inputs: Inputs = labelled, **settings: Any) -> Architecture:
    """A causal language model with a state."""
    build = partial(assemble, model_type, "AutoModelForCausalLM", SIZES | settings, inputs)
    return Architecture(model_type, "state-space", build)


_MAMBA: dict[str, Any] = {"state_size": 8, "time_step_rank": 4, "conv_kernel": 4}
_HYBRID: dict[str, Any] = {"num_key_value_heads": 2, "mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2}
_HEADS: dict[str, Any] = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_chunk_size": 8}
_LINEAR: dict[str, Any] = {"layer_types": ["linear_attention", "full_attention"]}
_DELTA: dict[str, Any] = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}

STATE_SPACE: tuple[Architecture, ...] = (
    recurrent("bamba", attn_layer_indices=[1], **_HYBRID, **_HEADS),
    recurrent("falcon_h1", mamba_d_ssm=64, **_HYBRID, **_HEADS),
    recurrent("falcon_mamba", **_MAMBA),
    recurrent(
        "granitemoehybrid",
        layer_types=["mamba", "attention"],
        num_local_experts=4,
        num_experts_per_tok=2,
        shared_intermediate_size=24,
        **_HYBRID,
        **_HEADS,
    ),
    recurrent(
        "jamba",
        attn_layer_period=2,
        attn_layer_offset=1,
        num_experts=4,
        use_mamba_kernels=False,
        mamba_dt_rank=4,
        **_HYBRID,
    ),
    recurrent(
        "lfm2", num_key_value_heads=2, conv_L_cache=3, block_multiple_of=8, layer_types=["conv", "full_attention"]
    ),
    recurrent("mamba", **_MAMBA),
    recurrent("mamba2", num_heads=4, head_dim=16, n_groups=1, chunk_size=8, **_MAMBA),
    recurrent(
        "qwen3_next",
        num_key_value_heads=2,
        head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        shared_expert_intermediate_size=24,
        **_LINEAR,
        **_DELTA,
    ),
    recurrent(
        "recurrent_gemma",
        num_key_value_heads=2,
        lru_width=32,
        attention_window_size=8,
        block_types=["recurrent", "attention"],
    ),
    recurrent("rwkv", inputs=unmasked, attention_hidden_size=32, context_length=64, rescale_every=0),
    recurrent(
        "xlstm",
        inputs=unmasked,
        embedding_dim=32,
        num_heads=4,
        num_blocks=2,
        chunk_size=8,
        ffn_round_up_to_multiple_of=8,
        mode="inference",
    ),
    recurrent(
        "zamba",
        n_mamba_heads=2,
        attention_head_dim=16,
        num_hidden_layers=3,
        layers_block_type=["linear_attention", "hybrid", "hybrid"],
        use_mamba_kernels=False,
        mamba_dt_rank=4,
        **{**_HYBRID, "num_key_value_heads": 4},
    ),
    recurrent(
        "zamba2",
        mamba_ngroups=1,
        n_mamba_heads=4,
        chunk_size=8,
        use_mamba_kernels=False,
        layers_block_type=["mamba", "hybrid"],
        adapter_rank=4,
        **{**_HYBRID, "num_key_value_heads": 4},
    ),
)
