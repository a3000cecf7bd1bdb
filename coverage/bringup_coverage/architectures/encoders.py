"""Encoders: masked language models and their kin."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.row import BATCH, LENGTH, VOCABULARY, Architecture, Inputs, assemble
from bringup_coverage.architectures.tokens import labelled, masked, sizes, unmasked


def encoder(
    model_type: str,
    *,
    head: str = "AutoModelForMaskedLM",
    inputs: Inputs = labelled,
    without: tuple[str, ...] = (),
    **settings: Any,
) -> Architecture:
    """A masked language model with its own loss, or another head.

    `without` names common sizes that its configuration refuses.
    """
    return Architecture(model_type, "encoder", partial(assemble, model_type, head, sizes(*without) | settings, inputs))


def _with_boxes(config: Any) -> dict[str, Any]:
    import torch

    corner = torch.randint(0, 40, (BATCH, LENGTH, 2))
    return {**labelled(config), "bbox": torch.cat([corner, corner + torch.randint(1, 20, corner.shape)], -1)}


RELATIVE: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 16}
BOXES: dict[str, Any] = {"max_2d_position_embeddings": 64, "inputs": _with_boxes}

ENCODERS: tuple[Architecture, ...] = (
    encoder("albert", embedding_size=16),
    encoder("bert"),
    encoder("bert-generation", head="AutoModelForCausalLM", is_decoder=True),
    encoder("big_bird", attention_type="original_full"),
    encoder("camembert"),
    encoder(
        "canine",
        head="AutoModelForTokenClassification",
        num_labels=3,
        inputs=masked,
        num_hash_buckets=64,
        local_transformer_stride=8,
        downsampling_rate=2,
    ),
    encoder("convbert", embedding_size=16, conv_kernel_size=3),
    encoder("data2vec-text"),
    encoder("deberta", pooler_hidden_size=32, **RELATIVE),
    encoder(
        "deberta-v2",
        pooler_hidden_size=32,
        position_buckets=8,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        **RELATIVE,
    ),
    encoder("distilbert", hidden_dim=48),
    encoder("electra", embedding_size=16),
    encoder("ernie"),
    encoder("esm", token_dropout=False, mask_token_id=4, position_embedding_type="rotary"),
    encoder("flaubert"),
    encoder("fnet", type_vocab_size=2),
    encoder("funnel", without=("num_hidden_layers",), block_sizes=[1, 1], num_decoder_layers=1, d_head=8, d_inner=48),
    encoder("ibert"),
    encoder("layoutlm", **BOXES),
    encoder(
        "lilt",
        head="AutoModelForTokenClassification",
        num_labels=VOCABULARY,
        hidden_size=48,
        channel_shrink_ratio=2,
        **BOXES,
    ),
    encoder("longformer", attention_window=8),
    encoder("luke", entity_vocab_size=10, entity_emb_size=16),
    encoder("megatron-bert"),
    encoder("mobilebert", embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16, num_feedforward_networks=2),
    encoder("modernbert", local_attention=8, cls_token_id=1, sep_token_id=2),
    encoder("mpnet"),
    encoder("nystromformer", inputs=unmasked, segment_means_seq_len=16, num_landmarks=4, conv_kernel_size=5),
    encoder("rembert", input_embedding_size=16, output_embedding_size=16),
    encoder("roberta"),
    encoder("roberta-prelayernorm"),
    encoder("roformer", embedding_size=16),
    encoder("squeezebert", embedding_size=32),
    encoder("xlm"),
    encoder("xlm-roberta"),
    encoder("xlm-roberta-xl"),
    encoder("xmod", languages=["en_XX"], default_language="en_XX"),
)
