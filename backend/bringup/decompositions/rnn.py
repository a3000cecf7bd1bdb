"""Recurrent layers and cells.

LSTM (Hochreiter and Schmidhuber, 1997; forget gates after Gers et al., 2000), gates in the order i, f, g, o:

    c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')

GRU (Cho et al., 2014, with the reset gate after the product), gates in the order r, z, n:

    n' = tanh(n_x + sigmoid(r) n_h),   h' = n' + sigmoid(z) (h - n')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("rnn")
aten = torch.ops.aten

Optional: TypeAlias = torch.Tensor | None

_LSTM = 2  # the layer's mode, as the operators number it


def _plus(tensor: torch.Tensor, bias: Optional) -> torch.Tensor:
    return tensor if bias is None else tensor + bias


def _lstm_step(gates: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """h', c' and the gates after their functions, which the gradient reads."""
    i, f, g, o = aten.chunk(gates, 4, -1)
    i, f, g, o = aten.sigmoid(i), aten.sigmoid(f), aten.tanh(g), aten.sigmoid(o)
    new = f * c + i * g
    return o * aten.tanh(new), new, aten.cat([i, f, g, o], -1)


def _lstm_step_backward(
    grad_h: Optional, grad_c: Optional, c: torch.Tensor, new: torch.Tensor, gates: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients to the gates before their functions, and to c."""
    i, f, g, o = aten.chunk(gates, 4, -1)
    squashed = aten.tanh(new)
    through_h = aten.zeros_like(new) if grad_h is None else grad_h * o * (1 - squashed * squashed)
    total = _plus(through_h, grad_c)
    grad_o = aten.zeros_like(new) if grad_h is None else grad_h * squashed * o * (1 - o)
    grad_gates = [total * g * i * (1 - i), total * c * f * (1 - f), total * i * (1 - g * g), grad_o]
    return aten.cat(grad_gates, -1), total * f


def _gru_step(of_input: torch.Tensor, of_hidden: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """h', and (r, z, n', h, n_h), which the gradient reads."""
    r_x, z_x, n_x = aten.chunk(of_input, 3, -1)
    r_h, z_h, n_h = aten.chunk(of_hidden, 3, -1)
    r, z = aten.sigmoid(r_x + r_h), aten.sigmoid(z_x + z_h)
    n = aten.tanh(n_x + r * n_h)
    return n + z * (h - n), aten.cat([r, z, n, h, n_h], -1)


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
    workspace = aten.full([0], 0, dtype=torch.uint8, device=input.device)  # the gradient computes the gates again
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
        total = of_steps[t] if grad_h is None else _plus(grad_h, of_steps[t])
        grad_gates, grad_c = _lstm_step_backward(total, grad_c, layer.cells[t], layer.cells[t + 1], layer.gates[t])
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
            h, c, gates = _lstm_step(step + aten.matmul(self.hidden[-1], recurrent), self.cells[-1])
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


@TABLE.register("aten::_thnn_fused_lstm_cell")
def _thnn_fused_lstm_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: Optional = None,
    hidden_bias: Optional = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, ...) -> (Tensor, Tensor, Tensor)"""
    return _lstm_step(_plus(input_gates, input_bias) + _plus(hidden_gates, hidden_bias), cx)


@TABLE.register("aten::_thnn_fused_lstm_cell_backward_impl")
def _thnn_fused_lstm_cell_backward_impl(
    grad_hy: Optional, grad_cy: Optional, cx: torch.Tensor, cy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[Optional, Optional, Optional]:
    """_thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, ...) -> (Tensor, Tensor, Tensor)"""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    grad_gates, grad_cx = _lstm_step_backward(grad_hy, grad_cy, cx, cy, workspace)
    return grad_gates, grad_cx, aten.sum.dim_IntList(grad_gates, [0]) if has_bias else None


@TABLE.register("aten::_thnn_fused_gru_cell")
def _thnn_fused_gru_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: Optional = None,
    hidden_bias: Optional = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """_thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, ...) -> (Tensor, Tensor)"""
    return _gru_step(_plus(input_gates, input_bias), _plus(hidden_gates, hidden_bias), hx)


@TABLE.register("aten::_thnn_fused_gru_cell_backward")
def _thnn_fused_gru_cell_backward(
    grad_hy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Optional, Optional]:
    """_thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"""
    r, z, n, h, n_h = aten.chunk(workspace, 5, -1)
    grad_n = grad_hy * (1 - z) * (1 - n * n)
    grad_z = grad_hy * (h - n) * z * (1 - z)
    grad_r = grad_n * n_h * r * (1 - r)
    of_input = aten.cat([grad_r, grad_z, grad_n], -1)
    of_hidden = aten.cat([grad_r, grad_z, grad_n * r], -1)
    biases = [aten.sum.dim_IntList(g, [0]) if has_bias else None for g in (of_input, of_hidden)]
    return of_input, of_hidden, grad_hy * z, biases[0], biases[1]
