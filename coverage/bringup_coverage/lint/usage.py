"""How often each entry of a decomposition table was asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from bringup.target.call import Call
from bringup.target.leaves import Outcome
from bringup.target.target import Target
from bringup.torch_internals import OpOverload


@dataclass
class Count:
    """What came of the calls that an entry was asked for.

    Attributes:
        taken: it decomposed them.
        kernel: the operator's kernel took them first.
        declined: it does not cover them, or they had led back to it too often.
        raised: it failed on them.
    """

    taken: int = 0
    kernel: int = 0
    declined: int = 0
    raised: int = 0

    def add(self, other: Count) -> None:
        """Add the counts of another."""
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)


@dataclass
class Usage:
    """An observer of traces on one target.

    Attributes:
        target: whose table is used.
        counts: by the entry's overload.
        suspects: entries that led to a call that no kernel takes, or raised, since `begin`; innermost first.
    """

    target: Target
    counts: dict[str, Count] = field(default_factory=dict)
    suspects: dict[OpOverload, None] = field(default_factory=dict)
    _open: list[tuple[Call, bool]] = field(default_factory=list)

    def begin(self) -> None:
        """Another call is traced."""
        self.suspects, self._open = {}, []

    def enter(self, call: Call, *, by_table: bool) -> None:
        """An entry of the table, or PyTorch, is about to decompose a call."""
        self._open.append((call, by_table))

    def leave(self, outcome: Outcome) -> None:
        """What was entered last is done."""
        call, by_table = self._open.pop()
        if not by_table:
            return
        count = self.counts.setdefault(call.name, Count())
        if outcome is Outcome.TAKEN:
            count.taken += 1
        elif outcome is Outcome.RAISED:
            count.raised += 1
            self.suspects[call.overload] = None
        elif self.target.refuses(call) is None:
            count.kernel += 1
        else:
            count.declined += 1

    def leaf(self, call: Call) -> None:
        """A call that nothing decomposes."""
        if self.target.refuses(call) is not None:
            self.suspects |= {above.overload: None for above, by_table in reversed(self._open) if by_table}
