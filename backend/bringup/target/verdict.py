"""The answer to "can this target run this call?": a status, and for a no the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a target runs a call."""

    NATIVE = "native"
    DECOMPOSED = "decomposed"
    NONE = "none"


class Reason(Enum):
    """Why a target cannot run a call. A closed set: a report never says "unknown"."""

    NO_DECOMPOSITION = "no-decomposition"
    LEAF_MISSING = "leaf-missing"
    DTYPE = "dtype"
    CONSTRAINT = "constraint"
    UNTRACEABLE = "untraceable"
    DATA_DEPENDENT = "data-dependent"
    CUSTOM_OPERATOR = "custom-operator"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether and how a target runs a call.

    Attributes:
        status: native, by decomposition, or not at all.
        reason: set exactly when `status` is NONE.
        detail: one sentence for a person: the constraint that failed, the leaf that is missing.
        through: the kernels that a decomposition ends in, sorted; empty unless `status` is DECOMPOSED.
        missing: for a no, the operators that no kernel takes, sorted: with kernels for all of them it would be a yes. Empty
            where the call cannot be traced.
    """

    status: Status
    reason: Reason | None = None
    detail: str = ""
    through: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.reason is None) == (self.status is Status.NONE):
            raise ValueError(
                f"a verdict gives a reason exactly when its status is none, got {self.status}, {self.reason}"
            )

    def __bool__(self) -> bool:
        """True when the target runs the call, natively or by decomposition."""
        return self.status is not Status.NONE

    def __str__(self) -> str:
        why = f" ({self.reason.value})" if self.reason else ""
        through = f" through {', '.join(self.through)}" if self.through else ""
        return f"{self.status.value}{why}{through}{': ' if self.detail else ''}{self.detail}"
