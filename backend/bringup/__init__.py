"""bringup: a bring-up kit for PyTorch accelerators.

``torch.compile(model, backend="bringup")`` needs no import of this package; import it for reports and for your own targets.
Importing it does not import torch; the first use of a name does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bringup.compiler import FallbackWarning, backend, compile_function, explain
    from bringup.decompositions import Decompositions
    from bringup.errors import (
        BringupError,
        DeviceMemoryError,
        OptionError,
        TargetError,
        UnsupportedOperatorError,
        VerificationError,
    )
    from bringup.ir import Buffer, Instruction, Program
    from bringup.partition import Partitioning, partition_graph
    from bringup.recorder import Report, recording, report, reset
    from bringup.target import Call, Engine, Kernel, Reason, Status, Target, Verdict, find_target

_HOME = {
    "backend": "compiler",
    "compile_function": "compiler",
    "explain": "compiler",
    "FallbackWarning": "compiler",
    "Decompositions": "decompositions",
    "BringupError": "errors",
    "DeviceMemoryError": "errors",
    "OptionError": "errors",
    "TargetError": "errors",
    "UnsupportedOperatorError": "errors",
    "VerificationError": "errors",
    "Buffer": "ir",
    "Instruction": "ir",
    "Program": "ir",
    "Report": "recorder",
    "recording": "recorder",
    "report": "recorder",
    "reset": "recorder",
    "Call": "target",
    "Engine": "target",
    "Kernel": "target",
    "Reason": "target",
    "Status": "target",
    "Partitioning": "partition",
    "partition_graph": "partition",
    "Target": "target",
    "Verdict": "target",
    "find_target": "target",
}

__all__ = [
    "BringupError",
    "Buffer",
    "Call",
    "Decompositions",
    "DeviceMemoryError",
    "Engine",
    "FallbackWarning",
    "Instruction",
    "Kernel",
    "OptionError",
    "Partitioning",
    "Program",
    "Reason",
    "Report",
    "Status",
    "Target",
    "TargetError",
    "UnsupportedOperatorError",
    "Verdict",
    "VerificationError",
    "backend",
    "compile_function",
    "explain",
    "find_target",
    "partition_graph",
    "recording",
    "report",
    "reset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bringup' has no attribute {name!r}")
    return getattr(importlib.import_module(f"bringup.{_HOME[name]}"), name)
