"""The required kernels of the simulated accelerator: the whole of PyTorch stands on these rows.

At most 128. What they cannot hold is decomposed, not added. Numerics are the host's own kernels.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from bringup.target.dtypes import ANY, BOOL, COMPLEX, FLOAT, INTEGRAL, NUMBER, REAL, WIDE
from bringup.target.kernel import Engine, Kernel
from bringup.torch_internals import find_overload

_MATRIX, _VECTOR, _MEMORY = Engine.MATRIX, Engine.VECTOR, Engine.MEMORY

_TABLE: tuple[tuple[Engine, frozenset[torch.dtype], str], ...] = (
    # products
    (_MATRIX, NUMBER, "mm bmm"),
    (_MATRIX, REAL, "convolution"),
    (_MATRIX, COMPLEX, "_fft_c2c"),
    # factorisations
    (_MATRIX, WIDE | COMPLEX, "linalg_cholesky_ex linalg_lu_factor_ex linalg_qr linalg_ldl_factor_ex"),
    (_MATRIX, WIDE | COMPLEX, "linalg_solve_triangular _linalg_svd _linalg_eigh linalg_eig"),
    # creation, views and movement
    (_MEMORY, REAL, "arange.start_step"),
    (_MEMORY, ANY, "full empty_strided"),
    (_MEMORY, ANY, "view view.dtype permute expand slice.Tensor select.int squeeze.dims unsqueeze as_strided"),
    (_MEMORY, ANY, "detach view_as_real view_as_complex"),
    (_MEMORY, ANY, "clone _to_copy copy_ set_.source_Tensor cat constant_pad_nd flip"),
    (_MEMORY, ANY, "index.Tensor index_put gather scatter.src scatter_add scatter_reduce.two"),
    (_MEMORY, ANY, "nonzero _local_scalar_dense"),
    # elementwise, one operand
    (_VECTOR, NUMBER, "abs neg sign"),
    (_VECTOR, REAL, "floor ceil trunc round"),
    (_VECTOR, FLOAT | COMPLEX, "exp log log2 log10 log1p expm1 sqrt rsqrt sigmoid"),
    (_VECTOR, FLOAT | COMPLEX, "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"),
    (_VECTOR, FLOAT, "erf erfc erfinv lgamma digamma"),
    (_VECTOR, INTEGRAL, "bitwise_not"),
    # elementwise, two operands and selection
    (_VECTOR, NUMBER | BOOL, "add.Tensor sub.Tensor mul.Tensor div.Tensor div.Tensor_mode"),
    (_VECTOR, NUMBER | BOOL, "pow.Tensor_Tensor"),
    (_VECTOR, REAL, "fmod.Tensor remainder.Tensor atan2 nextafter copysign.Tensor"),
    (_VECTOR, REAL | BOOL, "maximum minimum lt.Tensor le.Tensor gt.Tensor ge.Tensor"),
    (_VECTOR, ANY, "eq.Tensor ne.Tensor where.self"),
    (_VECTOR, INTEGRAL, "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor"),
    (_VECTOR, INTEGRAL, "bitwise_left_shift.Tensor bitwise_right_shift.Tensor gcd"),
    # reductions, scans and order
    (_VECTOR, NUMBER | BOOL, "sum.dim_IntList prod.dim_int cumsum cumprod"),
    (_VECTOR, REAL | BOOL, "amax amin argmax argmin sort.stable"),
    # random streams: the host's generator, hence eager's own stream
    (_VECTOR, ANY, "uniform normal_functional bernoulli bernoulli.p randint.low randperm"),
    (_VECTOR, ANY, "exponential geometric poisson"),
)

_LATER: tuple[tuple[Engine, frozenset[torch.dtype], str], ...] = (
    (_MEMORY, ANY, "shallow_copy_data_"),  # 2.15: what ``x.data = y`` is, which was set_ before
)
"""Rows of operators that only newer releases have."""


def required_kernels() -> Iterator[Kernel]:
    """The required rows of ``sim``, in the order of the tables above."""
    for engine, dtypes, names in _TABLE:
        for name in names.split():
            yield Kernel(f"aten::{name}", engine, dtypes)
    for engine, dtypes, names in _LATER:
        for name in names.split():
            if find_overload(f"aten::{name}") is not None:
                yield Kernel(f"aten::{name}", engine, dtypes)
