"""Operators whose constraints no rule can guess: a row each, and those that are never called, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from bringup_coverage.calls.rows_derived import DERIVED
from bringup_coverage.calls.rows_nn import ATTENTION, CONVOLUTIONS, NORMS, RECURRENT
from bringup_coverage.calls.schema import Signature
from bringup_coverage.calls.tensors import SIZE, dense, shaped

Row = Callable[[], dict[str, Any]]

F32 = torch.float32


def _amp_update_scale() -> dict[str, Any]:
    """A scale that grows after two steps without overflow."""
    one = torch.ones(1)
    numbers = {"scale_growth_factor": 2.0, "scale_backoff_factor": 0.5, "growth_interval": 2}
    return {"self": one, "growth_tracker": torch.zeros(1, dtype=torch.int32), "found_inf": torch.zeros(1), **numbers}


def _embedding_bag_dense_backward() -> dict[str, Any]:
    """Two bags of two rows, summed."""
    bags = {"offset2bag": torch.tensor([0, 0, 1, 1]), "bag_size": torch.tensor([2, 2])}
    values = {"grad": shaped((2, SIZE), F32), "indices": torch.tensor([0, 1, 2, 1]), **bags}
    options = {"num_weights": SIZE, "scale_grad_by_freq": False, "mode": 0, "per_sample_weights": None}
    return {**values, "maximum_indices": torch.empty(0, dtype=torch.int64), **options}


def _sobol_state() -> dict[str, Any]:
    """Room for the direction numbers of three dimensions."""
    return {"self": torch.zeros(3, 30, dtype=torch.int64), "dimension": 3}


def _sobol_scramble() -> dict[str, Any]:
    """Direction numbers and lower triangular matrices of bits."""
    triangle = torch.ones(30, 30, dtype=torch.int64).tril().expand(3, 30, 30).contiguous()
    return {"self": torch.ones(3, 30, dtype=torch.int64), "ltm": triangle, "dimension": 3}


def _sobol_forward() -> dict[str, Any]:
    """Two numbers on from a fresh state."""
    state = torch.ones(3, 30, dtype=torch.int64)
    numbers = {"dimension": 3, "num_generated": 0}
    return {"self": torch.zeros(3, dtype=torch.int64), "n": 2, "sobolstate": state, **numbers}


def _sobol_draw() -> dict[str, Any]:
    """Two points of three dimensions."""
    state = torch.ones(3, 30, dtype=torch.int64)
    numbers = {"n": 2, "dimension": 3, "num_generated": 0, "dtype": F32}
    return {"quasi": torch.zeros(3, dtype=torch.int64), "sobolstate": state, **numbers}


def _ctc() -> dict[str, Any]:
    """Five steps, two sequences, four classes."""
    log_probs = shaped((5, 2, SIZE), F32).log_softmax(-1)
    return {"log_probs": log_probs, "targets": torch.tensor([[1, 2, 3], [3, 2, 1]])}


def _ctc_lists() -> dict[str, Any]:
    return {**_ctc(), "input_lengths": [5, 5], "target_lengths": [3, 2]}


def _ctc_tensors() -> dict[str, Any]:
    return {**_ctc(), "input_lengths": torch.tensor([5, 5]), "target_lengths": torch.tensor([3, 2])}


def _from_file() -> dict[str, Any]:
    """A private mapping of a file that every installation has; nothing is written."""
    return {"filename": str(Path(torch.__file__)), "shared": False, "size": 16, "dtype": torch.uint8}


def _spectrum() -> dict[str, Any]:
    """The short-time spectrum of 64 samples in windows of 16."""
    window = torch.hann_window(16)
    values = shaped((64,), F32).stft(16, 4, 16, window, return_complex=True)
    return {"self": values, "n_fft": 16, "hop_length": 4, "win_length": 16, "window": window}


def _signal() -> dict[str, Any]:
    return {"self": shaped((64,), F32), "n_fft": 16, "hop_length": 4, "return_complex": True}


def _selecting() -> dict[str, Any]:
    """The gradient of a maximum over the last dimension."""
    sizes = {"sizes": [SIZE, SIZE], "keepdim": False, "dim": 1}
    return {"grad": dense(1, F32), "indices": torch.tensor([0, 1, 2, 1]), **sizes}


def _rows_to_pointers() -> dict[str, Any]:
    return {"self": torch.tensor([0, 1, 1, 3]), "size": SIZE}


def _pointers_to_rows() -> dict[str, Any]:
    return {"crow_indices": torch.tensor([0, 1, 3, 3, 4]), "col_indices": torch.tensor([0, 1, 2, 3])}


def _int8_product() -> dict[str, Any]:
    weight = shaped((16, 32), torch.int8)
    return {"self": shaped((4, 32), torch.bfloat16), "mat2": weight, "scales": torch.ones(16, dtype=torch.bfloat16)}


def _int4_weight() -> dict[str, Any]:
    return {"self": shaped((64, 64), torch.int32), "innerKTiles": 2}


def _int4_product() -> dict[str, Any]:
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(shaped((64, 64), torch.int32), 2)
    scales = torch.full((2, 64, 2), 0.5)
    return {"self": shaped((4, 64), F32), "mat2": packed, "qGroupSize": 32, "qScaleAndZeros": scales}


def _float8_product() -> dict[str, Any]:
    left = shaped((16, 16), F32).to(torch.float8_e4m3fn)
    right = shaped((16, 16), F32, 3).to(torch.float8_e4m3fn).t()
    return {"self": left, "mat2": right, "scale_a": torch.ones(()), "scale_b": torch.ones(()), "out_dtype": F32}


def _float8_product_v2() -> dict[str, Any]:
    """Scaled as a whole (recipe 0), nothing swizzled (0)."""
    values = _float8_product()
    left = {"scale_a": [values["scale_a"]], "recipe_a": [0], "swizzle_a": [0]}
    right = {"scale_b": [values["scale_b"]], "recipe_b": [0], "swizzle_b": [0]}
    return {**values, **left, **right, "bias": None}


def _scatter_add() -> dict[str, Any]:
    index = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 1]])
    return {"self": dense(2, F32), "dim": 0, "index": index, "src": shaped((2, SIZE), F32, 3), "reduce": "add"}


def _scatter_multiply() -> dict[str, Any]:
    return {**{k: v for k, v in _scatter_add().items() if k != "src"}, "value": 0.5, "reduce": "multiply"}


def _pixel_pairs() -> dict[str, Any]:
    return {"self": shaped((SIZE, 2), F32)}


def _observer() -> dict[str, Any]:
    """Moving average of minimum and maximum, then a fake quantization."""
    switches = {"observer_on": torch.ones(1), "fake_quant_on": torch.ones(1)}
    state = {"running_min": torch.zeros(1), "running_max": torch.ones(1), "scale": torch.ones(1)}
    numbers = {"zero_point": torch.zeros(1, dtype=torch.int32), "averaging_const": 0.01}
    return {"self": dense(2, F32), **switches, **state, **numbers, "quant_min": 0, "quant_max": 255, "ch_axis": 0}


def _quantized_channels() -> dict[str, Any]:
    """The gradient of a fake quantization with a scale and a zero point for each row."""
    grid = {"scale": shaped((SIZE,), F32, 2), "zero_point": torch.zeros(SIZE), "axis": 0}
    return {"grad": dense(2, F32, 1), "self": dense(2, F32), **grid, "quant_min": 0, "quant_max": 255}


def _quantized_by_switch() -> dict[str, Any]:
    grid = {"scale": torch.full((1,), 0.1), "zero_point": torch.zeros(1, dtype=torch.int32)}
    return {"self": dense(2, F32), **grid, "fake_quant_enabled": torch.ones(1), "quant_min": 0, "quant_max": 255}


def _packed_gradient() -> dict[str, Any]:
    """Of two packed sequences of lengths 3 and 2 with 3 features."""
    sizes = {"input_size": [3, 2, 3], "batch_sizes": torch.tensor([2, 2, 1])}
    return {"grad": shaped((5, 3), F32), **sizes, "batch_first": False}


OTHERS: dict[str, Row] = {
    "_amp_update_scale": _amp_update_scale,
    "_amp_update_scale_": _amp_update_scale,
    "_convert_indices_from_coo_to_csr": _rows_to_pointers,
    "_convert_indices_from_csr_to_coo": _pointers_to_rows,
    "_convert_weight_to_int4pack_for_cpu": _int4_weight,
    "_embedding_bag_dense_backward": _embedding_bag_dense_backward,
    "_fused_moving_avg_obs_fq_helper": _observer,
    "_fused_moving_avg_obs_fq_helper_functional": _observer,
    "_fake_quantize_learnable_per_channel_affine_backward": _quantized_channels,
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": _quantized_by_switch,
    "_pack_padded_sequence_backward": _packed_gradient,
    "_scaled_mm": _float8_product,
    "_scaled_mm_v2": _float8_product_v2,
    "_sobol_engine_draw": _sobol_draw,
    "_sobol_engine_ff_": _sobol_forward,
    "_sobol_engine_initialize_state_": _sobol_state,
    "_sobol_engine_scramble_": _sobol_scramble,
    "_test_check_tensor": lambda: {"self": torch.ones(SIZE, dtype=torch.bool)},
    "_weight_int4pack_mm_for_cpu": _int4_product,
    "_weight_int8pack_mm": _int8_product,
    "affine_grid_generator": lambda: {"theta": shaped((2, 2, 3), F32), "size": [2, 3, 4, 4], "align_corners": False},
    "affine_grid_generator_backward": lambda: {
        "grad": shaped((2, 4, 4, 2), F32),
        "size": [2, 3, 4, 4],
        "align_corners": False,
    },
    "ctc_loss.IntList": _ctc_lists,
    "ctc_loss.Tensor": _ctc_tensors,
    "from_file": _from_file,
    "istft": _spectrum,
    "scatter.reduce": _scatter_add,
    "scatter.value_reduce": _scatter_multiply,
    "stft": _signal,
    "stft.center": _signal,
    "value_selecting_reduction_backward": _selecting,
    "view_as_complex_copy": _pixel_pairs,
}

ROWS: dict[str, Row] = {**OTHERS, **ATTENTION, **CONVOLUTIONS, **DERIVED, **NORMS, **RECURRENT}
"""By overload without its namespace; an out= form takes the row of the overload with the same inputs."""

NEVER: dict[str, str] = {
    "_backward": "It differentiates a graph that a call's plain tensors do not have.",
    "retain_grad": "It needs a tensor that requires a gradient, which a call's plain tensors do not.",
    "record_stream": "It takes a stream of an accelerator.",
    "_pin_memory": "Pinning memory needs an accelerator.",
    "pin_memory": "Pinning memory needs an accelerator.",
    "get_gradients": "It needs an initialised distributed autograd context.",
    "_scaled_dot_product_fused_attention_overrideable": "Only a backend outside the tree implements it.",
    "_scaled_dot_product_fused_attention_overrideable_backward": "Only a backend outside the tree implements it.",
    "convolution_overrideable": "Only a backend outside the tree implements it.",
    "convolution_backward_overrideable": "Only a backend outside the tree implements it.",
    "_propagate_xla_data": "It takes tensors of XLA only.",
    "_make_dual": "Forward-mode dual tensors exist inside a dual level only.",
    "_make_dual_copy": "Forward-mode dual tensors exist inside a dual level only.",
    "_fw_primal": "Forward-mode dual tensors exist inside a dual level only.",
    "_fw_primal_copy": "Forward-mode dual tensors exist inside a dual level only.",
    "_cufft_clear_plan_cache": "It speaks to cuFFT.",
    "_cufft_get_plan_cache_max_size": "It speaks to cuFFT.",
    "_cufft_get_plan_cache_size": "It speaks to cuFFT.",
    "_cufft_set_plan_cache_max_size": "It speaks to cuFFT.",
}


def refused(wanted: Signature) -> str:
    """Why an overload is never called, or the empty string."""
    return NEVER.get(wanted.base, "")


def rows(wanted: Signature, functional: list[str]) -> Iterator[dict[str, Any]]:
    """Values for the inputs of `wanted` by its own row, or by that of an overload with the same inputs."""
    for name in [wanted.overload, *functional]:
        make = ROWS.get(name.partition("::")[2])
        if make is not None:
            yield make()
            return


def has_row(wanted: Signature, functional: list[str]) -> bool:
    """Whether `rows` has values for an overload."""
    return any(name.partition("::")[2] in ROWS for name in [wanted.overload, *functional])
