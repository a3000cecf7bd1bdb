"""Vision transformers of one resolution: classifiers, depth estimators, detectors, video."""

from __future__ import annotations

from typing import Any

from bringup_coverage.architectures.images import LABELS, SIDE, TRANSFORMER, pixels, unlabelled, vision
from bringup_coverage.architectures.row import BATCH, Architecture


def _film(_: Any) -> dict[str, Any]:
    import torch

    return {"pixel_values": pixels(BATCH, 4, 3, SIDE, SIDE), "labels": torch.arange(BATCH) % LABELS}


_VIDEO: dict[str, Any] = {**TRANSFORMER, "num_frames": 4}

VISION: tuple[Architecture, ...] = (
    vision("beit", use_relative_position_bias=True, use_auxiliary_head=False, out_indices=[1, 2], **TRANSFORMER),
    vision("data2vec-vision", use_auxiliary_head=False, out_indices=[0, 1, 1, 1], **TRANSFORMER),
    vision("deit", head="DeiTForImageClassification", **TRANSFORMER),
    vision("dinov2", **TRANSFORMER),
    vision("dinov2_with_registers", num_register_tokens=2, **TRANSFORMER),
    vision("dinov3_vit", head="AutoModel", inputs=unlabelled, num_register_tokens=2, **TRANSFORMER),
    vision(
        "dpt",
        head="AutoModelForDepthEstimation",
        inputs=unlabelled,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=16,
        **TRANSFORMER | {"num_hidden_layers": 4},
    ),
    vision("ijepa", **TRANSFORMER),
    vision("timesformer", head="AutoModelForVideoClassification", inputs=_film, **_VIDEO),
    vision("videomae", head="AutoModelForVideoClassification", inputs=_film, tubelet_size=2, **_VIDEO),
    vision("vit", **TRANSFORMER),
    vision("vit_msn", **TRANSFORMER),
    vision("vivit", head="AutoModelForVideoClassification", inputs=_film, tubelet_size=[2, 8, 8], **_VIDEO),
    vision(
        "yolos",
        head="AutoModelForObjectDetection",
        inputs=unlabelled,
        num_detection_tokens=4,
        **TRANSFORMER | {"image_size": [SIDE, SIDE]},
    ),
)
