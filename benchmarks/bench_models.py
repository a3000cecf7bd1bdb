"""The models that the benchmarks time: each a function that returns a step and whether it trains. Random weights, fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn

Step = Callable[[], Any]
Builder = Callable[[], tuple[nn.Module, Callable[[Any], Step]]]


def _inference(model: nn.Module, inputs: dict[str, Any]) -> tuple[nn.Module, Callable[[Any], Step]]:
    model.eval()

    def of(module: Any) -> Step:
        def step() -> Any:
            with torch.no_grad():
                return module(**inputs)

        return step

    return model, of


def _training(
    model: nn.Module, inputs: dict[str, Any], loss_of: Callable[[Any], torch.Tensor]
) -> tuple[nn.Module, Callable[[Any], Step]]:
    model.train()

    def of(module: Any) -> Step:
        def step() -> None:
            model.zero_grad(set_to_none=True)
            loss_of(module(**inputs)).backward()

        return step

    return model, of


class Mlp(nn.Module):
    """Three linear layers with GELU between them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class ConvNet(nn.Module):
    """Four convolutions with batch norm, for a training step."""

    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        for i, o in ((3, 32), (32, 64), (64, 64), (64, 128)):
            blocks += [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
        self.body = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


def _gpt2(layers: int, width: int) -> nn.Module:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            n_layer=layers,
            n_embd=width,
            n_head=width // 64,
            vocab_size=4000,
            use_cache=False,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )


def _llama() -> nn.Module:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            hidden_size=384,
            intermediate_size=1024,
            num_hidden_layers=6,
            num_attention_heads=6,
            num_key_value_heads=2,
            vocab_size=4000,
            use_cache=False,
        )
    )


def _resnet18() -> nn.Module:
    return transformers.ResNetForImageClassification(
        transformers.ResNetConfig(
            embedding_size=64,
            hidden_sizes=[64, 128, 256, 512],
            depths=[2, 2, 2, 2],
            layer_type="basic",
            num_labels=1000,
        )
    )


def _tokens(batch: int, length: int) -> dict[str, Any]:
    return {"input_ids": torch.randint(0, 4000, (batch, length))}


def _image(batch: int, size: int = 224) -> dict[str, Any]:
    return {"pixel_values": torch.randn(batch, 3, size, size)}


MODELS: dict[str, Builder] = {
    "MLP 64, batch 8": lambda: _inference(Mlp(64), {"x": torch.randn(8, 64)}),
    "MLP 1024, batch 32": lambda: _inference(Mlp(1024), {"x": torch.randn(32, 1024)}),
    "GPT-2 6x384, one token": lambda: _inference(_gpt2(6, 384), _tokens(1, 1)),
    "GPT-2 6x384, prefill 128": lambda: _inference(_gpt2(6, 384), _tokens(1, 128)),
    "Llama 6x384, prefill 128": lambda: _inference(_llama(), _tokens(1, 128)),
    "BERT 6x384, 128 tokens": lambda: _inference(
        transformers.BertModel(
            transformers.BertConfig(
                hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536, vocab_size=4000
            )
        ),
        _tokens(1, 128),
    ),
    "ViT 6x384, 224 px": lambda: _inference(
        transformers.ViTModel(
            transformers.ViTConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536)
        ),
        _image(1),
    ),
    "ResNet-18": lambda: _inference(_resnet18(), _image(1)),
    "ResNet-18, batch 8": lambda: _inference(_resnet18(), _image(8, 128)),
    "GPT-2 4x256, training": lambda: _training(
        _gpt2(4, 256), _tokens(2, 128), lambda out: out.logits.float().pow(2).mean()
    ),
    "ConvNet, training": lambda: _training(ConvNet(), {"x": torch.randn(4, 3, 48, 48)}, lambda out: out.pow(2).mean()),
}
