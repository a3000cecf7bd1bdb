"""One inference and one training step of a tiny model, in eager, in float64 or compiled, as named tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup_coverage.accuracy import leaves
from bringup_coverage.architectures.row import Example

RATE = 0.1
"""Of the one step of gradient descent."""

Results = dict[str, dict[str, torch.Tensor]]
"""Tensors by name, by group: inference, training, gradients, state (parameters and buffers after the step)."""

Compile = Callable[[Any], Callable[..., Any]]
"""Makes what is called from the model."""


def eager(model: Any) -> Any:
    """The model itself."""
    return model


def run(example: Example, compile_: Compile = eager) -> Results:
    """Run a model once for inference and once for training; the example is used up.

    The loss is the model's own where it has one, else the mean of the squares of all floating-point outputs.
    """
    model, inputs = example.model, example.inputs
    function = compile_(model)
    torch.manual_seed(1)
    with torch.no_grad():
        inference = _named(function(**inputs))
    model.train()
    torch.manual_seed(2)
    outputs = function(**inputs)
    loss = loss_of(outputs)
    loss.backward()
    training = {"loss": loss.detach()} | _named(outputs)
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    torch.optim.SGD(model.parameters(), lr=RATE).step()
    state = {n: t.detach() for n, t in (*model.named_parameters(), *model.named_buffers())}
    return {"inference": inference, "training": training, "gradients": gradients, "state": state}


def widened(example: Example) -> Example:
    """The same example in float64."""
    inputs = {k: v.double() if _is_float(v) else v for k, v in example.inputs.items()}
    return Example(example.model.double(), inputs)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _named(outputs: Any) -> dict[str, torch.Tensor]:
    """The tensors of a result by the name of the field they are in; caches, which are no tensors, are left out."""
    fields = outputs.items() if isinstance(outputs, dict) else [("output", outputs)]
    found: dict[str, torch.Tensor] = {}
    for name, value in fields:
        tensors = leaves(value)
        found |= {f"{name}.{i}" if len(tensors) > 1 else name: t.detach() for i, t in enumerate(tensors)}
    return found


def loss_of(outputs: Any) -> torch.Tensor:
    """The loss that a training step minimises: the model's own where it has one, else made of its outputs."""
    own = getattr(outputs, "loss", None)
    if isinstance(own, torch.Tensor):
        return own.mean()
    squares = [t.square().mean() for t in leaves(outputs) if t.requires_grad and t.is_floating_point()]
    return torch.stack(squares).sum()
