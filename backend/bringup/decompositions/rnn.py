"""Recurrent cells.

LSTM (Hochreiter and Schmidhuber, 1997; forget gates after Gers et al., 2000), gates in the order i, f, g, o:

    c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')

GRU (Cho et al., 2014, with the reset gate after the product), gates in the order r, z, n:

    n' = tanh(n_x + sigmoid(r) n_h),   h' = n' + sigmoid(z) (h - n')
"""

from __future__ import annotations

from typing import TypeAlias

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("rnn")
aten = torch.ops.aten

Optional: TypeAlias = torch.Tensor | None


def plus(tensor: torch.Tensor, bias: Optional) -> torch.Tensor:
    return tensor if bias is None else tensor + bias


def lstm_step(gates: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """h', c' and the gates after their functions, which the gradient reads."""
    i, f, g, o = aten.chunk(gates, 4, -1)
    i, f, g, o = aten.sigmoid(i), aten.sigmoid(f), aten.tanh(g), aten.sigmoid(o)
    new = f * c + i * g
    return o * aten.tanh(new), new, aten.cat([i, f, g, o], -1)


def lstm_step_backward(
    grad_h: Optional, grad_c: Optional, c: torch.Tensor, new: torch.Tensor, gates: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients to the gates before their functions, and to c."""
    i, f, g, o = aten.chunk(gates, 4, -1)
    squashed = aten.tanh(new)
    through_h = aten.zeros_like(new) if grad_h is None else grad_h * o * (1 - squashed * squashed)
    total = plus(through_h, grad_c)
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


@TABLE.register("aten::_thnn_fused_lstm_cell")
def _thnn_fused_lstm_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: Optional = None,
    hidden_bias: Optional = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, ...) -> (Tensor, Tensor, Tensor)"""
    return lstm_step(plus(input_gates, input_bias) + plus(hidden_gates, hidden_bias), cx)


@TABLE.register("aten::_thnn_fused_lstm_cell_backward_impl")
def _thnn_fused_lstm_cell_backward_impl(
    grad_hy: Optional, grad_cy: Optional, cx: torch.Tensor, cy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[Optional, Optional, Optional]:
    """_thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, ...) -> (Tensor, Tensor, Tensor)"""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    grad_gates, grad_cx = lstm_step_backward(grad_hy, grad_cy, cx, cy, workspace)
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
    return _gru_step(plus(input_gates, input_bias), plus(hidden_gates, hidden_bias), hx)


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
