"""Decoders: causal language models."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.row import Architecture, assemble
from bringup_coverage.architectures.tokens import labelled, sizes


def causal(model_type: str, *, without: tuple[str, ...] = (), **settings: Any) -> Architecture:
    """A causal language model with its own loss; `without` names common sizes that its configuration refuses."""
    build = partial(assemble, model_type, "AutoModelForCausalLM", sizes(*without) | settings, labelled)
    return Architecture(model_type, "decoder", build)


GROUPED: dict[str, Any] = {"num_key_value_heads": 2}
HEAD: dict[str, Any] = {"head_dim": 8}

DECODERS: tuple[Architecture, ...] = (
    causal("apertus", **GROUPED),
    causal("biogpt"),
    causal("bloom"),
    causal("codegen", rotary_dim=4, n_ctx=64),
    causal("cohere", **GROUPED),
    causal("cohere2", sliding_window=8, **GROUPED),
    causal("ctrl", dff=48),
    causal("diffllama", **GROUPED),
    causal("ernie4_5", **GROUPED),
    causal("exaone4", sliding_window=8, sliding_window_pattern=2, **GROUPED),
    causal("falcon", num_kv_heads=2, new_decoder_architecture=True),
    causal("gemma", **GROUPED, **HEAD),
    causal("gemma2", sliding_window=8, **GROUPED, **HEAD),
    causal("gemma3_text", sliding_window=8, layer_types=["sliding_attention", "full_attention"], **GROUPED, **HEAD),
    causal("glm", **GROUPED, **HEAD),
    causal("glm4", **GROUPED, **HEAD),
    causal("gpt2"),
    causal("gpt_bigcode"),
    causal("gpt_neo", attention_types=[[["global", "local"], 1]], num_layers=2, window_size=8),
    causal("gpt_neox", rotary_pct=0.5),
    causal("gptj", rotary_dim=4),
    causal("granite", **GROUPED),
    causal("helium", **GROUPED, **HEAD),
    causal("llama", **GROUPED),
    causal("mistral", sliding_window=8, **GROUPED),
    causal("modernbert-decoder", local_attention=8, cls_token_id=1, sep_token_id=2),
    causal("mpt"),
    causal("nemotron", **GROUPED),
    causal("olmo", clip_qkv=5.0, **GROUPED),
    causal("olmo2", **GROUPED),
    causal("openai-gpt"),
    causal("opt", ffn_dim=48, word_embed_proj_dim=32),
    causal("persimmon"),
    causal("phi", partial_rotary_factor=0.5),
    causal("phi3", sliding_window=8, **GROUPED),
    causal("qwen2", **GROUPED),
    causal("qwen3", **GROUPED, **HEAD),
    causal("seed_oss", **GROUPED, **HEAD),
    causal("smollm3", **GROUPED),
    causal("stablelm", **GROUPED),
    causal("starcoder2", sliding_window=8, **GROUPED),
    causal("xglm", d_model=32, ffn_dim=48, num_layers=2, attention_heads=4),
    causal("xlnet", without=("max_position_embeddings",), d_inner=48, d_head=8, mem_len=None),
)
