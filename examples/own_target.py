"""A target with every hook in use, compiled for and run: what a new backend starts from.

python examples/own_target.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import fx

import bringup
from bringup import Call, Decompositions, Engine, Instruction, Kernel, Program, Target
from bringup.engine import build

FLOAT32 = frozenset({torch.float32})
NUMBERS = FLOAT32 | {torch.int64}


def even_inner_size(call: Call) -> str | None:
    """A check: None where the kernel takes the call, one sentence where it does not. Sizes may be symbolic."""
    inner = call.argument("self").shape[1]
    return f"needs an even inner size, not {inner}" if inner % 2 else None


def matrix_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """An implementation: the overload's arguments in, its result out. Without one the host's own kernel runs."""
    return (a.double() @ b.double()).float()


table = Decompositions("mychip")


@table.register("aten::softplus")
def softplus(x: torch.Tensor, beta: float = 1.0, threshold: float = 20.0) -> torch.Tensor:
    """A decomposition: the overload's arguments in, other operators inside. NotImplemented declines the call."""
    scaled = x * beta
    return torch.where(scaled > threshold, x, torch.log1p(torch.exp(scaled)) / beta)


def drop_dropout(gm: fx.GraphModule, *_: Any) -> fx.GraphModule:
    """A rewrite before autograd: the graph as Dynamo captured it, of the functions that the user called."""
    for node in list(gm.graph.nodes):
        if node.target is torch.nn.functional.dropout:
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


def count_nodes(gm: fx.GraphModule) -> fx.GraphModule:
    """A pass: the functional ATen graph, forward and backward each; it gives the graph module, changed or not."""
    print(f"a graph of {len(gm.graph.nodes)} nodes")
    return gm


def on_the_vector_engine(instruction: Instruction) -> Instruction:
    """A lowering: the instruction that the table gives in, the one that is wanted out."""
    return replace(instruction, engine=Engine.VECTOR)


def runtime(program: Program) -> Callable[[list[Any]], tuple[Any, ...]]:
    """A runtime: a program in, a function out that takes a list of inputs, empties it, and returns a tuple of outputs."""
    run = build(program)  # the portable executor

    def say_and_run(inputs: list[Any]) -> tuple[Any, ...]:
        print(f"running {len(program.instructions)} instructions of {program.name}")
        return run(inputs)

    return say_and_run


SIM = bringup.find_target("sim")
TARGET = Target(
    "mychip",
    kernels=(
        Kernel("aten::mm", Engine.MATRIX, FLOAT32, check=even_inner_size, implementation=matrix_product),
        *(Kernel(f"aten::{name}", Engine.VECTOR, FLOAT32) for name in ("add.Tensor", "mul.Tensor", "div.Tensor")),
        *(Kernel(f"aten::{name}", Engine.VECTOR, FLOAT32) for name in ("exp", "log1p")),
        Kernel("aten::gt.Tensor", Engine.VECTOR, FLOAT32),
        Kernel("aten::where.self", Engine.VECTOR, FLOAT32 | {torch.bool}),
        *(Kernel(f"aten::{name}", Engine.MEMORY, NUMBERS) for name in ("full", "view", "expand", "permute", "clone")),
    ),
    decompositions={**SIM.decompositions, **table},
    before_autograd=(drop_dropout,),
    passes=(count_nodes,),
    lowerings={"aten::clone": on_the_vector_engine},
    runtime=runtime,
)


def model(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """What is compiled."""
    return torch.nn.functional.softplus(torch.nn.functional.dropout(x, 0.5) @ w)


def main() -> None:
    """Compile, run, compare; then ask for verdicts."""
    x, w = torch.randn(4, 8), torch.randn(8, 2)
    options = {"target": TARGET, "fallback": "error"}
    with bringup.recording() as report:
        y = torch.compile(model, backend="bringup", options=options)(x, w)
    print(f"largest difference from eager: {(y - torch.nn.functional.softplus(x @ w)).abs().max():.1e}")
    print(report)
    for tensors in ((x, w), (x[:, :7].contiguous(), w[:7])):
        print(TARGET.verdict(Call(torch.ops.aten.mm.default, tensors)))


if __name__ == "__main__":
    main()
