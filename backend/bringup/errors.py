"""Every error that bringup raises on purpose, one class per cause.

    BringupError
    ├── OptionError              an unknown option, or a value that it does not take
    ├── TargetError              a target or kernel table that contradicts itself
    ├── UnsupportedOperatorError a graph holds an operator that the target cannot run, and the policy is "error"
    ├── DeviceMemoryError        a program needs more memory than the device has
    └── VerificationError        an illegal program: a fault of ours, never of the user

A message says what happened, where, what was found and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BringupError(Exception):
    """Base of all errors that bringup raises on purpose."""


class OptionError(BringupError, ValueError):
    """An option is unknown, or its value is not one that it takes."""


class TargetError(BringupError, ValueError):
    """A target's tables contradict themselves: a duplicate kernel, a name that is no operator."""


class UnsupportedOperatorError(BringupError, RuntimeError):
    """The target cannot run an operator of the graph and host fallback is switched off.

    Args:
        message: the whole message.
        overload: the operator, such as ``aten::bincount``.
        reason: why the target cannot run it, a value of `bringup.Reason`.
    """

    def __init__(self, message: str, *, overload: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.overload = overload
        self.reason = reason


class DeviceMemoryError(BringupError, MemoryError):
    """A program needs more memory than its device has; the message shows the ledger."""


class VerificationError(BringupError, AssertionError):
    """A program breaks a rule of the IR. This is a fault in bringup (or in a user's pass), not in the model."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as ``"; did you mean 'target'?"``, or the empty string when nothing is close."""
    match = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {match[0]!r}?" if match else ""
