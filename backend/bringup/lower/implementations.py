"""A kernel's own implementation, held to what its operator gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup.errors import TargetError
from bringup.target.call import describe


class Implementation:
    """Calls an implementation, and compares dtypes and sizes of what it gives first with what the graph was traced with.

    Args:
        overload: the operator's name.
        function: the implementation.
        expected: what the operator gives, fake values; symbolic sizes may be anything.

    Raises:
        TargetError: when it is called, where they differ.
    """

    def __init__(self, overload: str, function: Callable[..., Any], expected: Any) -> None:
        self.overload = overload
        self.function = function
        self.expected = expected
        self.seen = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the implementation gives."""
        result = self.function(*args, **kwargs)
        if not self.seen:
            if not _fits(result, self.expected):
                raise TargetError(
                    f"the implementation of the kernel of {self.overload} gave {_said(result)} where the operator gives "
                    f"{_said(self.expected)}"
                )
            self.seen = True
            self.expected = None  # fakes hold on to their tracing
        return result


def _fits(result: Any, expected: Any) -> bool:
    if isinstance(expected, (list, tuple)):
        parts = isinstance(result, (list, tuple)) and len(result) == len(expected)
        return parts and all(map(_fits, result, expected))
    if not isinstance(expected, torch.Tensor):
        return not isinstance(result, torch.Tensor)
    return (
        isinstance(result, torch.Tensor)
        and result.dtype == expected.dtype
        and result.dim() == expected.dim()
        and all(type(e) is not int or r == e for r, e in zip(result.shape, expected.shape, strict=True))
    )


def _said(value: Any) -> str:
    described = describe(value)
    return described if len(described) <= 200 else f"{described[:200]}..."
