"""What a program calls: by overload, exact counts forward and backward, dtypes, and shapes. Plain data, without torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SHAPES = 8
"""Patterns of argument shapes that are kept for one overload; the calls of all others are counted together."""


@dataclass
class Calls:
    """The calls of one overload.

    Attributes:
        forward: how many while no backward was running: forward passes, optimizers, and whatever else a program does.
        backward: how many while autograd was running a backward.
        dtypes: calls by the dtypes of their tensors, each once, such as ``float32 int64``; without a tensor, the empty text.
        shapes: calls by dtypes and shapes of their tensors, such as ``float32[2,16] int64[2]``; the first patterns seen.
        other_shapes: calls of further patterns.
    """

    forward: int = 0
    backward: int = 0
    dtypes: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    other_shapes: int = 0

    @property
    def count(self) -> int:
        """All calls."""
        return self.forward + self.backward

    def add(self, dtypes: str, shapes: str, *, backward: bool) -> None:
        """Count one call."""
        self.backward += backward
        self.forward += not backward
        self.dtypes[dtypes] = self.dtypes.get(dtypes, 0) + 1
        if shapes in self.shapes or len(self.shapes) < SHAPES:
            self.shapes[shapes] = self.shapes.get(shapes, 0) + 1
        else:
            self.other_shapes += 1

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "forward": self.forward,
            "backward": self.backward,
            "dtypes": dict(sorted(self.dtypes.items())),
            "shapes": dict(self.shapes),
            "other_shapes": self.other_shapes,
        }


Usage = dict[str, Calls]
"""Calls by overload, as the dispatcher spells it."""


def to_plain(usage: Usage) -> dict[str, dict[str, Any]]:
    """A usage as plain data, sorted by overload."""
    return {name: usage[name].to_dict() for name in sorted(usage)}


def from_plain(data: dict[str, dict[str, Any]]) -> Usage:
    """The usage that `to_plain` wrote.

    Raises:
        TypeError, AttributeError: it did not.
    """
    usage = {name: Calls(**row) for name, row in data.items()}
    for name, calls in usage.items():
        whole = (calls.forward, calls.backward, calls.other_shapes)
        if not all(isinstance(n, int) for n in whole) or not isinstance(calls.dtypes, dict):
            raise TypeError(f"{name} has no counts")
    return usage
