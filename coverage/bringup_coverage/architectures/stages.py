"""Vision models of several stages: convolutional networks and pyramids of transformers."""

from __future__ import annotations

from typing import Any

from bringup_coverage.architectures.images import LABELS, SIDE, pixels, segmented, unlabelled, vision
from bringup_coverage.architectures.row import BATCH, Architecture


def _larger(_: Any) -> dict[str, Any]:
    import torch

    return {"pixel_values": pixels(BATCH, 3, 2 * SIDE, 2 * SIDE), "labels": torch.arange(BATCH) % LABELS}


def _many(_: Any) -> dict[str, Any]:
    """A batch of 8 larger images, 32 pixels in the last stage: of the 2 that are left of two small ones, batch normalisation keeps only the
    signs, and the gradients are rounding errors even in eager (off from float64 by a hundredth of the largest element)."""
    import torch

    return {"pixel_values": pixels(4 * BATCH, 3, 2 * SIDE, 2 * SIDE), "labels": torch.arange(4 * BATCH) % LABELS}


_STAGES: dict[str, Any] = {"depths": [1, 1], "hidden_sizes": [16, 32]}
_WINDOWS: dict[str, Any] = {"image_size": SIDE, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4]}
_PYRAMID: dict[str, Any] = {
    "num_encoder_blocks": 2,
    "depths": [1, 1],
    "sr_ratios": [2, 1],
    "hidden_sizes": [16, 32],
    "patch_sizes": [3, 3],
    "strides": [4, 2],
    "num_attention_heads": [1, 2],
    "mlp_ratios": [2, 2],
    "decoder_hidden_size": 16,
}
_CONVOLUTIONAL: dict[str, Any] = {"embedding_size": 8, "layer_type": "basic", "num_stages": 2, **_STAGES}

STAGES: tuple[Architecture, ...] = (
    vision("bit", embedding_size=8, num_groups=4, **_STAGES),
    vision("convnext", num_stages=2, image_size=SIDE, layer_scale_init_value=0.1, **_STAGES),
    vision("convnextv2", num_stages=2, image_size=SIDE, **_STAGES),
    vision(
        "cvt",
        patch_sizes=[7, 3],
        patch_stride=[4, 2],
        patch_padding=[2, 1],
        embed_dim=[16, 32],
        num_heads=[1, 2],
        depth=[1, 2],
        mlp_ratio=[2.0, 2.0],
        attention_drop_rate=[0.0, 0.0],
        drop_rate=[0.0, 0.0],
        drop_path_rate=[0.0, 0.0],
        qkv_bias=[True, True],
        cls_token=[False, True],
        qkv_projection_method=["dw_bn", "dw_bn"],
        kernel_qkv=[3, 3],
        padding_kv=[1, 1],
        stride_kv=[2, 2],
        padding_q=[1, 1],
        stride_q=[1, 1],
    ),
    vision(
        "efficientnet",
        image_size=SIDE,
        kernel_sizes=[3, 5],
        in_channels=[32, 8],
        out_channels=[8, 16],
        strides=[1, 2],
        num_block_repeats=[1, 1],
        expand_ratios=[1, 2],
        width_coefficient=1.0,
        depth_coefficient=1.0,
        depth_divisor=4,
        hidden_dim=1280,
    ),
    vision(
        "focalnet", image_size=SIDE, patch_size=2, embed_dim=16, focal_levels=[2, 2], focal_windows=[3, 3], **_STAGES
    ),
    vision("glpn", head="AutoModelForDepthEstimation", inputs=unlabelled, **_PYRAMID),
    vision(
        "hiera",
        image_size=[SIDE, SIDE],
        embed_dim=16,
        depths=[1, 1],
        num_heads=[1, 2],
        num_query_pool=1,
        masked_unit_size=[4, 4],
        masked_unit_attention=[True, False],
    ),
    vision(
        "levit",
        head="LevitForImageClassification",
        inputs=_larger,
        image_size=2 * SIDE,
        patch_size=16,
        hidden_sizes=[16, 32],
        num_attention_heads=[2, 4],
        depths=[1, 1],
        key_dim=[8, 8],
        mlp_ratio=[2, 2],
        attention_ratio=[2, 2],
        down_ops=[["Subsample", 8, 2, 2, 2, 2]],
    ),
    vision("mobilenet_v1", depth_multiplier=0.125, image_size=SIDE),
    vision("mobilenet_v2", inputs=_many, depth_multiplier=0.125, image_size=2 * SIDE),
    vision(
        "mobilevit",
        image_size=SIDE,
        hidden_sizes=[16, 24, 32],
        neck_hidden_sizes=[8, 8, 8, 16, 16, 16, 16],
        num_attention_heads=2,
        expand_ratio=2.0,
    ),
    vision(
        "mobilevitv2",
        image_size=2 * SIDE,
        inputs=_larger,
        base_attn_unit_dims=[16, 24, 32],
        width_multiplier=0.25,
        n_attn_blocks=[1, 1, 1],
    ),
    vision(
        "poolformer",
        depths=[1, 1],
        hidden_sizes=[16, 32],
        patch_sizes=[7, 3],
        strides=[4, 2],
        padding=[2, 1],
        num_encoder_blocks=2,
    ),
    vision(
        "pvt",
        image_size=SIDE,
        num_encoder_blocks=2,
        depths=[1, 1],
        sequence_reduction_ratios=[2, 1],
        hidden_sizes=[16, 32],
        patch_sizes=[4, 2],
        strides=[4, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
    ),
    vision("pvt_v2", image_size=SIDE, **_PYRAMID),
    vision("regnet", groups_width=8, **{**_CONVOLUTIONAL, "layer_type": "y"}),
    vision("resnet", **_CONVOLUTIONAL),
    vision("segformer", head="AutoModelForSemanticSegmentation", inputs=segmented, **_PYRAMID),
    vision("swiftformer", image_size=SIDE, depths=[1, 1, 1, 1], embed_dims=[8, 16, 24, 32], layer_scale_init_value=0.1),
    vision("swin", window_size=4, **_WINDOWS),
    vision(
        "swin2sr",
        head="AutoModelForImageToImage",
        inputs=unlabelled,
        window_size=4,
        upscale=2,
        **_WINDOWS | {"patch_size": 1, "image_size": 16},
    ),
    vision("swinv2", window_size=4, **_WINDOWS),
)
