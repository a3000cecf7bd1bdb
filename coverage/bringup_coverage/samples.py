"""OpInfo cases: one operator, one dtype, its sample inputs, always in the same order and with the same values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch


@dataclass(frozen=True, order=True)
class Case:
    """One OpInfo in one dtype.

    Attributes:
        operator: the OpInfo's name and variant, such as ``linalg.norm/subgradients_at_zero``.
        dtype: such as ``float32``.
    """

    operator: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.operator}:{self.dtype}"


@cache
def opinfos() -> dict[str, Any]:
    """Every OpInfo of the installed torch by name and variant."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {op.name + (f"/{op.variant_test_name}" if op.variant_test_name else ""): op for op in op_db}


def cases(dtypes: tuple[str, ...]) -> Iterator[Case]:
    """The cases of the given dtypes: every OpInfo that supports them on the CPU, sorted."""
    for name, op in sorted(opinfos().items()):
        for dtype in dtypes:
            if op.supports_dtype(getattr(torch, dtype), "cpu"):
                yield Case(name, dtype)


def has_backward(op: Any, dtype: torch.dtype) -> bool:
    """Whether eager differentiates the operator in `dtype`."""
    return bool(op.supports_autograd) and dtype in op.supported_backward_dtypes("cpu")


def samples(case: Case, limit: int | None = None, *, requires_grad: bool = False) -> Iterator[Any]:
    """The sample inputs of a case, at most `limit`; the generator is seeded so that every run sees the same values."""
    op = opinfos()[case.operator]
    torch.manual_seed(0)
    for index, sample in enumerate(op.sample_inputs("cpu", getattr(torch, case.dtype), requires_grad=requires_grad)):
        if limit is not None and index >= limit:
            return
        yield sample
