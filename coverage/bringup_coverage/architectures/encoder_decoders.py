"""Encoder-decoders: sequence to sequence."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.row import Architecture, Inputs, assemble
from bringup_coverage.architectures.tokens import SIZES, identifiers, translated

WIDTHS: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
"""As BART and its descendants call them."""

T5: dict[str, Any] = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "decoder_start_token_id": 0,
}
"""As T5 and its descendants call them."""

_COMMON = ("vocab_size", "max_position_embeddings", "pad_token_id", "bos_token_id", "eos_token_id", "use_cache")


def _both_sides(config: Any) -> dict[str, Any]:
    inputs = translated(config)
    return {**inputs, "decoder_input_ids": identifiers(*inputs["labels"].shape)}


def translator(model_type: str, *, inputs: Inputs = translated, **settings: Any) -> Architecture:
    """A sequence-to-sequence model with its own loss."""
    common = {k: SIZES[k] for k in _COMMON}
    build = partial(assemble, model_type, "AutoModelForSeq2SeqLM", common | settings, inputs)
    return Architecture(model_type, "encoder-decoder", build)


_PROPHET: dict[str, Any] = {
    "hidden_size": 32,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "num_buckets": 8,
    "decoder_start_token_id": 2,
}

ENCODER_DECODERS: tuple[Architecture, ...] = (
    translator("bart", **WIDTHS),
    translator("bigbird_pegasus", attention_type="original_full", **WIDTHS),
    translator("blenderbot", **WIDTHS),
    translator("blenderbot-small", **WIDTHS),
    translator("fsmt", inputs=_both_sides, src_vocab_size=99, tgt_vocab_size=99, **WIDTHS),
    translator(
        "led", attention_window=8, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64, **WIDTHS
    ),
    translator("longt5", local_radius=4, global_block_size=4, **T5),
    translator("m2m_100", **WIDTHS),
    translator("marian", **WIDTHS),
    translator("mbart", **WIDTHS),
    translator("mt5", **T5),
    translator("mvp", **WIDTHS),
    translator("pegasus", **WIDTHS),
    translator("pegasus_x", num_global_tokens=4, block_size=8, **WIDTHS),
    translator("plbart", **WIDTHS),
    translator("prophetnet", **_PROPHET),
    translator("t5", **T5),
    translator("umt5", **T5),
)
