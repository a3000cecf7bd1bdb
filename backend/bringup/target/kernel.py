"""A kernel row: how a target runs one overload natively."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from bringup.errors import TargetError
from bringup.target.call import Call
from bringup.target.dtypes import dtype_name
from bringup.target.verdict import Reason
from bringup.torch_internals import is_data_dependent


class Engine(Enum):
    """The part of a device that executes an instruction."""

    MATRIX = "matrix"
    VECTOR = "vector"
    MEMORY = "memory"
    LINK = "link"
    HOST = "host"


Check = Callable[[Call], "str | None"]
"""A constraint on the whole call: None when the kernel takes it, else one sentence that says why not."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """How a target runs one overload.

    Attributes:
        overload: the operator in the dispatcher's spelling, such as ``aten::mm`` or ``aten::add.Tensor``.
        engine: what executes it.
        dtypes: the dtypes that its tensor arguments may have, and that what it makes of no tensor may have.
        check: a further constraint on the call (shapes, layout, attributes).
        implementation: called with the overload's arguments; None runs the host's own kernel of that overload,
            which is how the simulated accelerator gets real numerics.
        required: required kernels close the set; optional ones only make it faster and can be switched off.

    Raises:
        TargetError: an attribute is not what it has to be.
    """

    overload: str
    engine: Engine
    dtypes: frozenset[torch.dtype]
    check: Check | None = None
    implementation: Callable[..., Any] | None = None
    required: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.overload, str) or "::" not in self.overload:
            raise TargetError(
                f"a kernel is of {self.overload!r}; write the overload as a string with its namespace, such as 'aten::add.Tensor'"
            )
        if not isinstance(self.engine, Engine):
            known = ", ".join(f"Engine.{e.name}" for e in Engine)
            raise TargetError(
                f"the engine of the kernel of {self.overload} is {self.engine!r}; it must be one of {known}"
            )
        if not isinstance(self.dtypes, (set, frozenset)) or not all(isinstance(d, torch.dtype) for d in self.dtypes):
            raise TargetError(
                f"the dtypes of the kernel of {self.overload} are {self.dtypes!r}; "
                "they must be a set of dtypes of torch, such as frozenset({torch.float32})"
            )
        for name in ("check", "implementation"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise TargetError(
                    f"{name} of the kernel of {self.overload} is {getattr(self, name)!r}; it must be callable"
                )

    def refuses(self, call: Call) -> tuple[Reason, str] | None:
        """Why the kernel cannot run `call`, or None when it can."""
        for dtype in call.dtypes():
            if dtype not in self.dtypes:
                return Reason.DTYPE, f"the kernel of {self.overload} does not take {dtype_name(dtype)}"
        if self.check is None:
            return None
        try:
            why = self.check(call)
        except Exception as error:
            if is_data_dependent(error):
                raise
            raise TargetError(
                f"the check of the kernel of {self.overload} raised {type(error).__name__}: {error}, on {call}"
            ) from error
        if why is None:
            return None
        if not isinstance(why, str):
            raise TargetError(
                f"the check of the kernel of {self.overload} gave {why!r}, on {call}; it must give None where the kernel takes the "
                "call, and one sentence where it does not"
            )
        return Reason.CONSTRAINT, f"the kernel of {self.overload} {why}"

    def row(self) -> dict[str, Any]:
        """The row as plain data, the form that ``bringup kernels --format json`` prints."""
        return {
            "overload": self.overload,
            "engine": self.engine.value,
            "dtypes": sorted(dtype_name(d) for d in self.dtypes),
            "required": self.required,
        }
