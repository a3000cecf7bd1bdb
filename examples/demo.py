"""Compile real architectures for the simulated accelerator, run them, and compare with eager.

    python examples/demo.py            # a Llama, a ResNet, a BERT, and a training step
    python examples/demo.py --json     # the same as JSON

Weights are random; sizes are small enough for two cores. Exit status 1 when a result is wrong or something fell back to the host.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
import transformers
from rich.console import Console
from tabulate import tabulate

import bringup

RELATIVE_TOLERANCE = 1e-4  # of the largest magnitude in eager's result


@dataclass(frozen=True)
class Row:
    """One line of the demo's table; times are seconds."""

    model: str
    parameters: int
    max_difference: float
    kernels: int
    instructions: int
    fallbacks: int
    peak_bytes: int
    step_seconds: float
    eager_seconds: float
    right: bool


def llama() -> tuple[torch.nn.Module, dict[str, Any]]:
    """A Llama decoder of 4 layers, prefill of 64 tokens."""
    config = transformers.LlamaConfig(
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=2000,
    )
    return transformers.LlamaForCausalLM(config), {"input_ids": torch.randint(0, 2000, (1, 64)), "use_cache": False}


def resnet() -> tuple[torch.nn.Module, dict[str, Any]]:
    """A ResNet-18 on one image of 160 x 160."""
    config = transformers.ResNetConfig(
        embedding_size=64, hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic", num_labels=100
    )
    return transformers.ResNetForImageClassification(config), {"pixel_values": torch.randn(1, 3, 160, 160)}


def bert() -> tuple[torch.nn.Module, dict[str, Any]]:
    """A BERT encoder of 4 layers on 64 tokens."""
    config = transformers.BertConfig(
        hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, vocab_size=2000
    )
    return transformers.BertForMaskedLM(config), {"input_ids": torch.randint(0, 2000, (1, 64))}


def inference(
    build: Callable[[], tuple[torch.nn.Module, dict[str, Any]]],
) -> tuple[Callable[..., Any], Callable[..., Any], int]:
    """The eager and the compiled forward of a model, and its parameter count."""
    model, inputs = build()
    model.eval()
    compiled = torch.compile(model, backend="bringup")

    def run(module: Any) -> Callable[[], list[torch.Tensor]]:
        def step() -> list[torch.Tensor]:
            with torch.no_grad():
                return [module(**inputs).logits]

        return step

    return run(model), run(compiled), sum(p.numel() for p in model.parameters())


def training() -> tuple[Callable[..., Any], Callable[..., Any], int]:
    """One training step of a Llama of 2 layers: loss, backward, gradients of every parameter."""
    config = transformers.LlamaConfig(
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=2000,
    )
    model = transformers.LlamaForCausalLM(config).train()
    tokens = torch.randint(0, 2000, (2, 64))
    compiled = torch.compile(model, backend="bringup")

    def run(module: Any) -> Callable[[], list[torch.Tensor]]:
        def step() -> list[torch.Tensor]:
            model.zero_grad(set_to_none=True)
            loss = module(input_ids=tokens, labels=tokens, use_cache=False).loss
            loss.backward()
            return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]

        return step

    return run(model), run(compiled), sum(p.numel() for p in model.parameters())


def measure(name: str, eager: Callable[[], Any], compiled: Callable[[], Any], parameters: int, repeat: int) -> Row:
    """Compare one compiled step with eager, then time both, interleaved."""
    with bringup.recording() as recorded:
        actual = compiled()
    expected = eager()
    differences = [float((a - e).abs().max()) for a, e in zip(actual, expected, strict=True)]
    scales = [float(e.abs().max()) for e in expected]
    right = all(d <= RELATIVE_TOLERANCE * max(s, 1e-3) for d, s in zip(differences, scales, strict=True))
    times: dict[str, list[float]] = {"eager": [], "compiled": []}
    for _ in range(repeat):
        for key, step in (("eager", eager), ("compiled", compiled)):
            start = time.perf_counter()
            step()
            times[key].append(time.perf_counter() - start)
    facts = recorded.to_dict()
    return Row(
        name,
        parameters,
        max(differences),
        len(facts["kernels"]),
        sum(p["instructions"] for p in facts["programs"]),
        sum(f["count"] for f in facts["fallbacks"]),
        facts["bytes_peak"],
        statistics.median(times["compiled"]),
        statistics.median(times["eager"]),
        right,
    )


def main() -> int:
    """Run the demo; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--repeat", type=int, default=7, help="timed steps of each (default 7)")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    console = Console(stderr=True)
    work: list[tuple[str, Callable[[], tuple[Callable[..., Any], Callable[..., Any], int]]]] = [
        ("Llama, prefill 64", lambda: inference(llama)),
        ("ResNet-18, 160 px", lambda: inference(resnet)),
        ("BERT, 64 tokens", lambda: inference(bert)),
        ("Llama, training step", training),
    ]
    rows = []
    for name, build in work:
        with console.status(f"compiling {name}"):
            torch.manual_seed(0)
            rows.append(measure(name, *build(), arguments.repeat))
    good = all(r.right and not r.fallbacks for r in rows)
    if arguments.json:
        print(json.dumps([asdict(r) for r in rows], indent=1))
        return 0 if good else 1
    table = [
        [
            r.model,
            f"{r.parameters / 1e6:.1f} M",
            f"{r.max_difference:.1e}{'' if r.right else ' WRONG'}",
            r.kernels,
            r.instructions,
            r.fallbacks or "none",
            f"{r.peak_bytes / 1e6:.1f} MB",
            f"{r.step_seconds * 1e3:.1f} ms",
            f"{r.step_seconds / r.eager_seconds:.2f}",
        ]
        for r in rows
    ]
    headers = [
        "model",
        "parameters",
        "max diff",
        "kernels",
        "instructions",
        "fallbacks",
        "peak memory",
        "step",
        "of eager",
    ]
    print(tabulate(table, headers=headers))
    print("\nlast program, first lines:\n")
    print("\n".join(str(bringup.report().programs[0]).splitlines()[:12]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
