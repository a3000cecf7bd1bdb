"""Multimodal: text with images or sound."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.images import SIDE, TRANSFORMER, pixels
from bringup_coverage.architectures.row import BATCH, LENGTH, Architecture, Inputs, assemble
from bringup_coverage.architectures.tokens import SIZES, identifiers, mask

IMAGE_TOKEN = 98
"""Where the language model sees the image; text tokens stay below it."""

TEXT: dict[str, Any] = {**SIZES, "projection_dim": 16}
IMAGE: dict[str, Any] = {**TRANSFORMER, "projection_dim": 16}
PATCHES = (SIDE // TRANSFORMER["patch_size"]) ** 2


def paired(_: Any) -> dict[str, Any]:
    """As many texts as images."""
    return {"input_ids": identifiers(high=IMAGE_TOKEN), "attention_mask": mask(), "pixel_values": pixels()}


def _contrastive(config: Any) -> dict[str, Any]:
    return {**paired(config), "return_loss": True}


def _conversation(_: Any) -> dict[str, Any]:
    import torch

    tokens = identifiers(length=LENGTH, high=IMAGE_TOKEN)
    whole = torch.cat([tokens[:, :2], torch.full((BATCH, PATCHES), IMAGE_TOKEN), tokens[:, 2:]], 1)
    labels = whole.masked_fill(whole == IMAGE_TOKEN, -100)
    return {"input_ids": whole, "attention_mask": torch.ones_like(whole), "pixel_values": pixels(), "labels": labels}


def _questions(_: Any) -> dict[str, Any]:
    import torch

    return {
        "input_ids": identifiers(),
        "attention_mask": mask(),
        "pixel_values": pixels(),
        "pixel_mask": torch.ones(BATCH, SIDE, SIDE, dtype=torch.int64),
    }


def _regions(_: Any) -> dict[str, Any]:
    import torch

    return {
        "input_ids": identifiers(),
        "attention_mask": mask(),
        "visual_feats": torch.randn(BATCH, 5, 24),
        "visual_pos": torch.rand(BATCH, 5, 4),
    }


def _embedded(_: Any) -> dict[str, Any]:
    import torch

    return {"input_ids": identifiers(), "attention_mask": mask(), "visual_embeds": torch.randn(BATCH, 5, 24)}


def _caption(_: Any) -> dict[str, Any]:
    tokens = identifiers()
    return {"input_ids": tokens, "attention_mask": mask(), "pixel_values": pixels(), "labels": tokens.clone()}


def _heard(_: Any) -> dict[str, Any]:
    import torch

    return {
        "input_ids": identifiers(),
        "attention_mask": mask(),
        "input_features": torch.randn(BATCH, 1, 64, 16),
        "return_loss": True,
    }


def multimodal(model_type: str, *, head: str = "AutoModel", inputs: Inputs = paired, **settings: Any) -> Architecture:
    """A model of several kinds of input; without a loss of its own the outputs are the loss."""
    return Architecture(model_type, "multimodal", partial(assemble, model_type, head, settings, inputs))


_PAIR: dict[str, Any] = {"text_config": TEXT, "vision_config": IMAGE, "projection_dim": 16}
_LANGUAGE: dict[str, Any] = {**SIZES, "num_key_value_heads": 2}
_LLAVA: dict[str, Any] = {
    "head": "AutoModelForImageTextToText",
    "inputs": _conversation,
    "image_token_index": IMAGE_TOKEN,
    "image_token_id": IMAGE_TOKEN,
}

MULTIMODAL: tuple[Architecture, ...] = (
    multimodal("altclip", inputs=_contrastive, **{**_PAIR, "text_config": {**TEXT, "project_dim": 16}}),
    multimodal("blip", inputs=_contrastive, **_PAIR),
    multimodal("chinese_clip", inputs=_contrastive, **_PAIR),
    multimodal("clip", inputs=_contrastive, **_PAIR),
    multimodal(
        "clipseg",
        head="CLIPSegForImageSegmentation",
        inputs=paired,
        extract_layers=[0, 1],
        reduce_dim=8,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=16,
        **_PAIR,
    ),
    multimodal(
        "flava",
        head="FlavaModel",
        image_config=TRANSFORMER,
        text_config=SIZES,
        multimodal_config={**SIZES},
        image_codebook_config={},
        hidden_size=32,
        projection_dim=16,
    ),
    multimodal("git", head="AutoModelForCausalLM", inputs=_caption, vision_config=TRANSFORMER, **SIZES),
    multimodal(
        "groupvit",
        inputs=_contrastive,
        text_config=TEXT,
        vision_config={**TRANSFORMER, "depths": [1, 1], "num_group_tokens": [4, 0], "num_output_groups": [4, 4]},
        projection_dim=16,
        projection_intermediate_dim=16,
    ),
    multimodal(
        "llava",
        text_config={"model_type": "llama", **_LANGUAGE},
        vision_config={"model_type": "clip_vision_model", **IMAGE},
        vision_feature_layer=-1,
        **_LLAVA,
    ),
    multimodal("lxmert", inputs=_regions, l_layers=1, x_layers=1, r_layers=1, visual_feat_dim=24, **SIZES),
    multimodal("owlvit", inputs=_contrastive, **_PAIR),
    multimodal(
        "paligemma",
        text_config={"model_type": "gemma", **_LANGUAGE, "head_dim": 8},
        vision_config={"model_type": "siglip_vision_model", **IMAGE},
        projection_dim=32,
        **_LLAVA,
    ),
    multimodal("siglip", inputs=_contrastive, **_PAIR),
    multimodal("vilt", inputs=_questions, **TRANSFORMER | SIZES),
    multimodal(
        "vipllava",
        text_config={"model_type": "llama", **_LANGUAGE},
        vision_config={"model_type": "clip_vision_model", **IMAGE},
        vision_feature_layers=[0, 1],
        **_LLAVA,
    ),
    multimodal("visual_bert", inputs=_embedded, visual_embedding_dim=24, **SIZES),
    multimodal(
        "clap",
        inputs=_heard,
        text_config=TEXT,
        audio_config={
            "hidden_size": 32,
            "spec_size": 32,
            "num_mel_bins": 16,
            "depths": [1, 1],
            "num_attention_heads": [2, 4],
            "window_size": 4,
            "patch_size": 2,
            "patch_stride": [2, 2],
            "patch_embeds_hidden_size": 16,
            "num_classes": 3,
        },
        projection_dim=16,
    ),
)
