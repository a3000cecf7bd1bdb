"""Tiny images, and what vision models are made from."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.row import BATCH, Architecture, Inputs, assemble

SIDE = 32
LABELS = 3

TRANSFORMER: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": SIDE,
    "patch_size": 8,
}


def pixels(*shape: int) -> Any:
    """Random float32 images, by default of shape (batch, 3, side, side)."""
    import torch

    return torch.randn(shape or (BATCH, 3, SIDE, SIDE))


def classified(_: Any) -> dict[str, Any]:
    """Images and one label each."""
    import torch

    return {"pixel_values": pixels(), "labels": torch.arange(BATCH) % LABELS}


def unlabelled(_: Any) -> dict[str, Any]:
    """Images alone."""
    return {"pixel_values": pixels()}


def segmented(_: Any) -> dict[str, Any]:
    """Images and a label a pixel, int64, of shape (batch, side, side)."""
    import torch

    return {"pixel_values": pixels(), "labels": torch.randint(0, LABELS, (BATCH, SIDE, SIDE))}


def vision(
    model_type: str, *, head: str = "AutoModelForImageClassification", inputs: Inputs = classified, **settings: Any
) -> Architecture:
    """An image classifier with its own loss, or another head."""
    return Architecture(
        model_type, "vision", partial(assemble, model_type, head, {"num_labels": LABELS} | settings, inputs)
    )
