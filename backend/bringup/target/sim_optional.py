"""Optional fused kernels of the simulated accelerator. They make it faster and can all be switched off.

Each runs the host's fused kernel of the same overload; with `optional_kernels=False` the same call is decomposed
into the required kernels of `bringup.target.sim` and must give the same results.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from bringup.target.dtypes import ANY, BOOL, COMPLEX, FLOAT, INDEX, NUMBER, REAL
from bringup.target.kernel import Engine, Kernel

_MATRIX, _VECTOR, _MEMORY = Engine.MATRIX, Engine.VECTOR, Engine.MEMORY

_TABLE: tuple[tuple[Engine, frozenset[torch.dtype], str], ...] = (
    (_MATRIX, NUMBER, "addmm baddbmm addmv convolution_backward"),
    (
        _MATRIX,
        FLOAT,
        "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward",
    ),
    (_VECTOR, FLOAT, "_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data"),
    (_VECTOR, FLOAT, "native_layer_norm native_layer_norm_backward native_group_norm native_group_norm_backward"),
    (_VECTOR, FLOAT, "_native_batch_norm_legit_functional _native_batch_norm_legit.no_stats"),
    (_VECTOR, FLOAT, "_native_batch_norm_legit_no_training native_batch_norm_backward"),
    (_VECTOR, FLOAT, "gelu gelu_backward silu silu_backward mish hardswish hardswish_backward hardsigmoid"),
    (_VECTOR, FLOAT, "leaky_relu leaky_relu_backward elu elu_backward softplus softplus_backward log_sigmoid_forward"),
    (_VECTOR, FLOAT, "sigmoid_backward tanh_backward threshold_backward"),
    (_VECTOR, REAL, "relu clamp clamp.Tensor clamp_min clamp_max"),
    (_VECTOR, FLOAT | COMPLEX, "mean.dim mean reciprocal var.correction var_mean.correction linalg_vector_norm"),
    (_VECTOR, FLOAT | INDEX, "nll_loss_forward nll_loss_backward"),
    (_VECTOR, NUMBER, "addcmul addcdiv lerp.Scalar lerp.Tensor pow.Tensor_Scalar sum"),
    (_VECTOR, ANY, "eq.Scalar ne.Scalar"),
    (_VECTOR, REAL | BOOL, "lt.Scalar le.Scalar gt.Scalar ge.Scalar any any.dim all all.dim max.dim min.dim topk"),
    (_VECTOR, BOOL, "logical_not logical_and logical_or"),
    (_VECTOR, FLOAT, "native_dropout"),
    (_MEMORY, ANY, "masked_fill.Scalar index_select embedding embedding_dense_backward"),
    (_MEMORY, FLOAT | INDEX, "max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward"),
    (_MEMORY, FLOAT, "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward upsample_nearest2d upsample_bilinear2d"),
    (_MEMORY, ANY, "scatter.value select_scatter slice_scatter slice_backward select_backward split_with_sizes"),
)


def optional_kernels() -> Iterator[Kernel]:
    """The optional rows of ``sim``, in the order of the table above."""
    for engine, dtypes, names in _TABLE:
        for name in names.split():
            yield Kernel(f"aten::{name}", engine, dtypes, required=False)
