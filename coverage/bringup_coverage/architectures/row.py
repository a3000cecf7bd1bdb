"""What a row of the architecture list is, and how its model is built: tiny, seeded, with a deterministic forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

SEED = 20
VOCABULARY = 99
BATCH, LENGTH = 2, 16
PADDED = 3
"""Tokens of the second sequence that are padding."""


@dataclass(frozen=True)
class Example:
    """A model and what it is called with.

    Attributes:
        model: in evaluation mode, float32, on the host.
        inputs: keyword arguments of its forward; integer labels among them where the model has a loss of its own.
    """

    model: Any
    inputs: dict[str, Any]


@dataclass(frozen=True)
class Architecture:
    """One model type.

    Attributes:
        model_type: its name in `transformers.CONFIG_MAPPING`.
        kind: decoder, encoder, encoder-decoder, vision, audio, multimodal, experts or state-space.
        build: makes the model and its inputs; the same at every call, and the caller's random numbers are left alone.
    """

    model_type: str
    kind: str
    build: Callable[[], Example]


Inputs = Callable[[Any], dict[str, Any]]
"""Makes the inputs from the configuration."""


def assemble(model_type: str, head: str, settings: Mapping[str, Any], inputs: Inputs) -> Example:
    """Build a model from its configuration.

    Args:
        model_type: name of the configuration.
        head: the class in `transformers` that makes the model: an ``AutoModelFor...`` or a model class itself.
        settings: of the configuration; dropout and other randomness are set to zero besides.
        inputs: makes the inputs.
    """
    import torch
    import transformers

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        config = transformers.CONFIG_MAPPING[model_type](**settings)
        make_deterministic(config)
        maker = getattr(transformers, head)
        model = maker.from_config(config) if head.startswith("Auto") else maker(config)
        _perturb(model)
        model = model.float().eval()
        return Example(model, _accepted(model, inputs(config)))


_RANDOM = ("drop", "jitter", "mask_time_prob", "mask_feature_prob")
"""In the names of the probabilities and noises of configurations."""


def make_deterministic(config: Any) -> None:
    """Set dropout, dropped layers, masking and jitter to zero in a configuration and in those nested in it."""
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict"):
            make_deterministic(value)
        elif isinstance(value, float) and any(part in name for part in _RANDOM):
            setattr(config, name, 0.0)
        elif "drop" in name and isinstance(value, list):
            setattr(config, name, [0.0 for _ in value])
        elif name == "apply_spec_augment":
            setattr(config, name, False)


def _perturb(model: Any) -> None:
    """Add noise to every parameter, so that biases are not zero nor norms' weights one."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point():
                parameter.add_(torch.randn_like(parameter), alpha=0.05)


def _accepted(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The attention mask and the labels only where the forward takes them."""
    import inspect

    names = inspect.signature(model.forward).parameters
    return {k: v for k, v in inputs.items() if k not in ("attention_mask", "labels") or k in names}
