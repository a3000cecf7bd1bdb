"""Inputs of text models, and the settings that make them tiny."""

from __future__ import annotations

from typing import Any

from bringup_coverage.architectures.row import BATCH, LENGTH, PADDED, VOCABULARY

SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "use_cache": False,
}
"""The common names; a configuration that calls them otherwise maps them."""


def sizes(*without: str) -> dict[str, Any]:
    """The common sizes, less those named."""
    return {k: v for k, v in SIZES.items() if k not in without}


FIRST_TOKEN = 5
"""Tokens below it are special."""


def identifiers(batch: int = BATCH, length: int = LENGTH, high: int = VOCABULARY) -> Any:
    """Random token identifiers, int64, of shape (batch, length)."""
    import torch

    return torch.randint(FIRST_TOKEN, high, (batch, length))


def mask(batch: int = BATCH, length: int = LENGTH) -> Any:
    """An attention mask, int64, of shape (batch, length): the last tokens of the last sequence are padding."""
    import torch

    result = torch.ones(batch, length, dtype=torch.int64)
    result[-1, length - PADDED :] = 0
    return result


def labelled(_: Any) -> dict[str, Any]:
    """Tokens, a mask, and a label for each token that is not padding."""
    tokens, seen = identifiers(), mask()
    return {"input_ids": tokens, "attention_mask": seen, "labels": tokens.masked_fill(seen == 0, -100)}


def masked(_: Any) -> dict[str, Any]:
    """Tokens and a mask."""
    return {"input_ids": identifiers(), "attention_mask": mask()}


def unmasked(_: Any) -> dict[str, Any]:
    """Tokens and labels alone."""
    tokens = identifiers()
    return {"input_ids": tokens, "labels": tokens.clone()}


def translated(_: Any) -> dict[str, Any]:
    """Source tokens with their mask, and labels of another length for the decoder."""
    return {"input_ids": identifiers(), "attention_mask": mask(), "labels": identifiers(length=LENGTH - 4)}
