"""A kernel row: how a target runs one overload natively."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from bringup.target.call import Call
from bringup.target.dtypes import dtype_name
from bringup.target.verdict import Reason


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
        dtypes: the dtypes that its tensor arguments may have.
        check: a further constraint on the call (shapes, layout, attributes).
        implementation: called with the overload's arguments; None runs the host's own kernel of that overload,
            which is how the simulated accelerator gets real numerics.
        required: required kernels close the set; optional ones only make it faster and can be switched off.
    """

    overload: str
    engine: Engine
    dtypes: frozenset[torch.dtype]
    check: Check | None = None
    implementation: Callable[..., Any] | None = None
    required: bool = True

    def refuses(self, call: Call) -> tuple[Reason, str] | None:
        """Why the kernel cannot run `call`, or None when it can."""
        for tensor in call.tensors():
            if tensor.dtype not in self.dtypes:
                return Reason.DTYPE, f"the kernel of {self.overload} does not take {dtype_name(tensor.dtype)}"
        if self.check is None:
            return None
        why = self.check(call)
        return None if why is None else (Reason.CONSTRAINT, f"the kernel of {self.overload} {why}")

    def row(self) -> dict[str, Any]:
        """The row as plain data, the form that ``bringup kernels --format json`` prints."""
        return {
            "overload": self.overload,
            "engine": self.engine.value,
            "dtypes": sorted(dtype_name(d) for d in self.dtypes),
            "required": self.required,
        }
