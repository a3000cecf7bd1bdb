"""Groups of dtypes that kernel rows are written with."""

from __future__ import annotations

import torch

BOOL = frozenset({torch.bool})
INTEGER = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})
UNSIGNED = frozenset({torch.uint16, torch.uint32, torch.uint64})
FLOAT = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})
WIDE = frozenset({torch.float32, torch.float64})
FLOAT8 = frozenset(
    {torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu}
)
COMPLEX = frozenset({torch.complex64, torch.complex128})
INDEX = frozenset({torch.int64})

REAL = FLOAT | INTEGER
NUMBER = REAL | COMPLEX
INTEGRAL = INTEGER | BOOL
ANY = NUMBER | BOOL | UNSIGNED | FLOAT8 | frozenset({torch.complex32})


def dtype_name(dtype: torch.dtype) -> str:
    """``torch.float32`` -> ``"float32"``."""
    return str(dtype).removeprefix("torch.")
