"""A layer of an LSTM over a sequence, and backpropagation through its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.rnn import Optional, lstm_step, lstm_step_backward, plus

TABLE = Decompositions("rnn_layer")
aten = torch.ops.aten

_LSTM = 2  # the layer's mode, as the operators number it


@TABLE.register("aten::mkldnn_rnn_layer")
def mkldnn_rnn_layer(
    input: torch.Tensor,
    weight0: torch.Tensor,
    weight1: torch.Tensor,
    weight2: torch.Tensor,
    weight3: torch.Tensor,
    hx_: torch.Tensor,
    cx_: torch.Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> Any:
    """mkldnn_rnn_layer(Tensor input, Tensor weight0, ..., bool train) -> (Tensor output, Tensor hy, Tensor cy, Tensor workspace)

    Args:
        input: (steps, batch, features); hx_, cx_: (1, batch, hidden) or (batch, hidden).
        weight0: (gates hidden, features); weight1: (gates hidden, hidden); weight2, weight3: their biases.
    """
    if num_layers != 1 or bidirectional or mode != _LSTM:
        return NotImplemented
    layer = _Layer(input, weight0, weight1, weight2, weight3, hx_, cx_, reverse, has_biases)
    h, c = layer.hidden[-1], layer.cells[-1]
    workspace = aten.full.default(
        [0], 0, dtype=torch.uint8, device=input.device
    )  # the gradient computes the gates again
    return layer.in_order(layer.hidden[1:]), aten.reshape(h, hx_.shape), aten.reshape(c, cx_.shape), workspace


@TABLE.register("aten::mkldnn_rnn_layer_backward")
def mkldnn_rnn_layer_backward(
    input: torch.Tensor,
    weight1: torch.Tensor,
    weight2: torch.Tensor,
    weight3: torch.Tensor,
    weight4: torch.Tensor,
    hx_: torch.Tensor,
    cx_tmp: torch.Tensor,
    output: torch.Tensor,
    hy_: torch.Tensor,
    cy_: torch.Tensor,
    grad_output: Optional,
    grad_hy: Optional,
    grad_cy: Optional,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: torch.Tensor,
) -> Any:
    """mkldnn_rnn_layer_backward(Tensor input, ..., Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)

    Backpropagation through time. Gradients to the input, the two weights, the two biases, h and c.
    """
    if num_layers != 1 or bidirectional or mode != _LSTM:
        return NotImplemented
    layer = _Layer(input, weight1, weight2, weight3, weight4, hx_, cx_tmp, reverse, has_biases)
    steps = len(layer.gates)
    of_steps = [None] * steps if grad_output is None else layer.in_time(grad_output)
    grad_h = None if grad_hy is None else aten.reshape(grad_hy, hx_.shape[-2:])
    grad_c = None if grad_cy is None else aten.reshape(grad_cy, cx_tmp.shape[-2:])
    of_gates: list[torch.Tensor] = []
    for t in range(steps - 1, -1, -1):
        total = of_steps[t] if grad_h is None else plus(grad_h, of_steps[t])
        grad_gates, grad_c = lstm_step_backward(total, grad_c, layer.cells[t], layer.cells[t + 1], layer.gates[t])
        grad_h = aten.matmul(grad_gates, weight2)
        of_gates.insert(0, grad_gates)
    before = aten.reshape(layer.in_order(layer.hidden[:-1]), [-1, hidden_size])
    gates = layer.in_order(of_gates)
    flat = aten.reshape(gates, [-1, 4 * hidden_size])
    across = aten.transpose(flat, 0, 1)
    features = aten.reshape(input, [-1, input.shape[-1]])
    grad_bias = aten.sum.dim_IntList(flat, [0]) if has_biases else None
    return (
        aten.matmul(gates, weight1),
        aten.matmul(across, features),
        aten.matmul(across, before),
        aten.zeros_like(weight3) if grad_bias is None else grad_bias,
        aten.zeros_like(weight4) if grad_bias is None else aten.clone(grad_bias),
        aten.reshape(grad_h, hx_.shape),
        aten.reshape(grad_c, cx_tmp.shape),
    )


class _Layer:
    """One direction of one LSTM layer, run over its steps; `hidden` and `cells` start with the initial states."""

    def __init__(
        self,
        input: torch.Tensor,
        of_input: torch.Tensor,
        of_hidden: torch.Tensor,
        input_bias: torch.Tensor,
        hidden_bias: torch.Tensor,
        h: torch.Tensor,
        c: torch.Tensor,
        reverse: bool,
        has_biases: bool,
    ) -> None:
        self.reverse = reverse
        self.hidden, self.cells = [aten.reshape(h, h.shape[-2:])], [aten.reshape(c, c.shape[-2:])]
        self.gates: list[torch.Tensor] = []
        projected = aten.matmul(input, aten.transpose(of_input, 0, 1))
        if has_biases:
            projected = projected + (input_bias + hidden_bias)
        recurrent = aten.transpose(of_hidden, 0, 1)
        for step in self.in_time(projected):
            h, c, gates = lstm_step(step + aten.matmul(self.hidden[-1], recurrent), self.cells[-1])
            self.hidden.append(h)
            self.cells.append(c)
            self.gates.append(gates)

    def in_time(self, sequence: torch.Tensor) -> list[torch.Tensor]:
        """The steps in the order in which the layer takes them."""
        steps = list(aten.unbind(sequence, 0))
        return steps[::-1] if self.reverse else steps

    def in_order(self, steps: list[torch.Tensor]) -> torch.Tensor:
        """What the layer made step by step, in the order of its input."""
        return aten.stack(steps[::-1] if self.reverse else steps, 0)
