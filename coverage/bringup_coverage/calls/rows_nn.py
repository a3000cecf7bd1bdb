"""Rows of neural network operators: recurrent cells, normalisation, convolution and attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup_coverage.calls.tensors import shaped

Row = Callable[[], dict[str, Any]]

F32 = torch.float32
_HIDDEN = 4


def _weights(gates: int) -> list[torch.Tensor]:
    """Input and hidden weights and their biases of one layer with 3 features."""
    rows = gates * _HIDDEN
    shapes = [(rows, 3), (rows, _HIDDEN), (rows,), (rows,)]
    return [shaped(shape, F32, i) for i, shape in enumerate(shapes)]


def _options(gates: int) -> dict[str, Any]:
    flags = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False}
    return {"params": _weights(gates), **flags}


def _padded(gates: int, states: int) -> dict[str, Any]:
    """A batch of 2 sequences of 5 steps; states are (layers, batch, hidden)."""
    state = [shaped((1, 2, _HIDDEN), F32, i) for i in range(states)]
    hx = state if states > 1 else state[0]
    return {"input": shaped((5, 2, 3), F32), "hx": hx, **_options(gates), "batch_first": False}


def _packed(gates: int, states: int) -> dict[str, Any]:
    """Two sequences of lengths 3 and 2, packed."""
    values = _padded(gates, states)
    packed = {"data": shaped((5, 3), F32), "batch_sizes": torch.tensor([2, 2, 1])}
    return {**packed, **{k: v for k, v in values.items() if k not in ("input", "batch_first")}}


def _gru_cell_backward() -> dict[str, Any]:
    gates = {"input_gates": shaped((2, 12), F32), "hidden_gates": shaped((2, 12), F32, 1)}
    biases = {"input_bias": shaped((12,), F32), "hidden_bias": shaped((12,), F32, 1)}
    return {"grad_hy": shaped((2, _HIDDEN), F32), **gates, "hx": shaped((2, _HIDDEN), F32, 2), **biases}


def _lstm_cell_backward() -> dict[str, Any]:
    gates = {"input_gates": shaped((2, 16), F32), "hidden_gates": shaped((2, 16), F32, 1)}
    biases = {"input_bias": shaped((16,), F32), "hidden_bias": shaped((16,), F32, 1)}
    cells = {"cx": shaped((2, _HIDDEN), F32, 2), "cy": shaped((2, _HIDDEN), F32, 3)}
    return {"grad_hy": shaped((2, _HIDDEN), F32), "grad_cy": shaped((2, _HIDDEN), F32, 4), **gates, **biases, **cells}


def _pad_packed() -> dict[str, Any]:
    values = {"data": shaped((5, 3), F32), "batch_sizes": torch.tensor([2, 2, 1])}
    return {**values, "batch_first": False, "padding_value": 0.0, "total_length": 4}


RECURRENT: dict[str, Row] = {
    "_pad_packed_sequence": _pad_packed,
    "_thnn_differentiable_gru_cell_backward": _gru_cell_backward,
    "_thnn_differentiable_lstm_cell_backward": _lstm_cell_backward,
    "gru.data": lambda: _packed(3, 1),
    "gru.input": lambda: _padded(3, 1),
    "lstm.data": lambda: _packed(4, 2),
    "lstm.input": lambda: _padded(4, 2),
    "rnn_relu.data": lambda: _packed(1, 1),
    "rnn_relu.input": lambda: _padded(1, 1),
    "rnn_tanh.data": lambda: _packed(1, 1),
    "rnn_tanh.input": lambda: _padded(1, 1),
}


def _channels() -> dict[str, torch.Tensor]:
    return {
        name: shaped((3,), F32, i) + 0.5 for i, name in enumerate(("weight", "bias", "running_mean", "running_var"))
    }


def _batch_norm() -> dict[str, Any]:
    """An image of 3 channels with running statistics."""
    return {"input": shaped((2, 3, 4, 5), F32), **_channels(), "momentum": 0.1, "eps": 1e-5}


def _batch_norm_no_stats() -> dict[str, Any]:
    values = {k: v for k, v in _batch_norm().items() if not k.startswith("running")}
    return {**values, "training": True}


def _batch_norm_backward() -> dict[str, Any]:
    """The native implementation, which is number 0."""
    saved = {"save_mean": shaped((3,), F32), "save_var_transform": shaped((3,), F32, 1) + 0.5}
    values = {k: v for k, v in _batch_norm().items() if k not in ("bias", "momentum")}
    flags = {"impl_index": 0, "train": True, "output_mask": [True] * 3}
    grad = shaped((2, 3, 4, 5), F32, 1)
    return {**values, **saved, **flags, "grad_output": grad, "reservedSpace": torch.empty(0, dtype=torch.uint8)}


def _group_norm_backward() -> dict[str, Any]:
    """4 channels in 2 groups over 5 places."""
    images = {"grad_out": shaped((2, 4, 5), F32), "input": shaped((2, 4, 5), F32, 1)}
    moments = {"mean": shaped((2, 2), F32), "rstd": shaped((2, 2), F32, 1) + 0.5, "weight": shaped((4,), F32)}
    return {**images, **moments, "N": 2, "C": 4, "HxW": 5, "group": 2, "output_mask": [True] * 3}


NORMS: dict[str, Row] = {
    "_batch_norm_impl_index_backward": _batch_norm_backward,
    "_batch_norm_no_update": _batch_norm,
    "_native_batch_norm_legit.no_stats": _batch_norm_no_stats,
    "native_group_norm_backward": _group_norm_backward,
}


def _double_backward() -> dict[str, Any]:
    """Of a convolution of (2, 3, 5, 5) with 4 kernels of 3 by 3."""
    image, kernel, out = (2, 3, 5, 5), (4, 3, 3, 3), (2, 4, 3, 3)
    second = {"ggI": shaped(image, F32), "ggW": shaped(kernel, F32), "ggb": shaped((4,), F32)}
    first = {"gO": shaped(out, F32), "weight": shaped(kernel, F32, 1), "self": shaped(image, F32, 1)}
    lists = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "output_padding": [0, 0]}
    return {**second, **first, **lists, "transposed": False, "groups": 1, "output_mask": [True] * 3}


def _window(rank: int) -> dict[str, Any]:
    """A convolution with 4 kernels of size 3 over 3 channels."""
    return {
        "self": shaped((2, 3) + (5,) * rank, F32),
        "weight": shaped((4, 3) + (3,) * rank, F32, 1),
        "kernel_size": [3] * rank,
        "bias": shaped((4,), F32),
        "stride": [1] * rank,
        "padding": [0] * rank,
        "dilation": [1] * rank,
    }


def _transposed(rank: int) -> dict[str, Any]:
    values = {**_window(rank), "self": shaped((2, 4) + (5,) * rank, F32), "bias": shaped((3,), F32)}
    return {**values, "output_padding": [0] * rank}


def _slow_conv() -> dict[str, Any]:
    return {k: v for k, v in _window(2).items() if k != "dilation"}


def _slow_conv_backward() -> dict[str, Any]:
    values = {k: v for k, v in _slow_conv().items() if k != "bias"}
    return {**values, "grad_output": shaped((2, 4, 3, 3), F32)}


CONVOLUTIONS: dict[str, Row] = {
    "_convolution_double_backward": _double_backward,
    "_slow_conv2d_backward.grad_input": _slow_conv_backward,
    "_slow_conv2d_backward.output_mask": lambda: {**_slow_conv_backward(), "output_mask": [True] * 3},
    "_slow_conv2d_forward": _slow_conv,
    "slow_conv_dilated2d": lambda: _window(2),
    "slow_conv_dilated3d": lambda: _window(3),
    "slow_conv_transpose2d": lambda: _transposed(2),
    "slow_conv_transpose3d": lambda: _transposed(3),
    "slow_conv3d": lambda: {k: v for k, v in _window(3).items() if k != "dilation"},
    "slow_conv3d_forward": lambda: {k: v for k, v in _window(3).items() if k != "dilation"},
}


def _projections() -> dict[str, Any]:
    """8 features: queries, keys and values in one matrix, and the output."""
    weights = {"qkv_weight": shaped((24, 8), F32), "proj_weight": shaped((8, 8), F32)}
    return {**weights, "qkv_bias": shaped((24,), F32), "proj_bias": shaped((8,), F32)}


def _attention() -> dict[str, Any]:
    sequence = shaped((2, 5, 8), F32)
    inputs = {"query": sequence, "key": sequence, "value": sequence}
    return {**inputs, "embed_dim": 8, "num_head": 2, **_projections()}


def _encoder_layer() -> dict[str, Any]:
    flags = {"embed_dim": 8, "num_heads": 2, "use_gelu": True, "norm_first": False, "eps": 1e-5}
    norms = {f"norm_{kind}_{i}": shaped((8,), F32, i) + 0.5 for kind in ("weight", "bias") for i in (1, 2)}
    feed = {"ffn_weight_1": shaped((16, 8), F32), "ffn_bias_1": shaped((16,), F32)}
    forward = {**feed, "ffn_weight_2": shaped((8, 16), F32), "ffn_bias_2": shaped((8,), F32)}
    return {"src": shaped((2, 5, 8), F32), **flags, **_projections(), **norms, **forward}


ATTENTION: dict[str, Row] = {
    "_native_multi_head_attention": _attention,
    "_transform_bias_rescale_qkv": lambda: {
        "qkv": shaped((2, 5, 24), F32),
        "qkv_bias": shaped((24,), F32),
        "num_heads": 2,
    },
    "_transformer_encoder_layer_fwd": _encoder_layer,
}
