"""What was asked, and the overloads that a name means."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import torch

from bringup.errors import OptionError
from bringup_coverage.catalogue import Operator, catalogue


@dataclass(frozen=True)
class Question:
    """Of which target and which call.

    Attributes:
        target: as `bringup.target.registry.find_target` takes it.
        dtype: of the call that is explained.
        number: which of the calls in that dtype.
        optional_kernels: use the target's optional kernels.

    Raises:
        OptionError: torch has no such dtype.
    """

    target: str = "sim"
    dtype: str = "float32"
    number: int = 0
    optional_kernels: bool = True

    def __post_init__(self) -> None:
        if not isinstance(getattr(torch, self.dtype, None), torch.dtype):
            raise OptionError(f"unknown dtype {self.dtype!r}; write it as torch does, such as bfloat16")


def meant(name: str) -> list[Operator]:
    """The overload called `name`, the default one included; or all overloads of the operator that has no default.

    Raises:
        OptionError: there is none; the message names those that come close.
    """
    operators = catalogue().operators
    spelled = name if "::" in name else f"aten::{name}"
    spelled = spelled.removesuffix(".default")
    if spelled in operators:
        return [operators[spelled]]
    found = [o for o in operators.values() if f"{o.namespace}::{o.packet}" == spelled]
    if found:
        return found
    near = difflib.get_close_matches(spelled, operators, n=3, cutoff=0.7)
    hint = f"; close to it are {', '.join(near)}" if near else "; an operator is written aten::silu or aten::add.Tensor"
    raise OptionError(f"torch {torch.__version__} has no operator {name!r}{hint}")
