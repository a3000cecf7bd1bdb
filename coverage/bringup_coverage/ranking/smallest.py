"""A small set of kernels that meets all needs: what every way has in common, greedy steps, what the others make unneeded goes, a search.

Finding the smallest is set cover with alternatives, hence hard; `at_least` says how far from it the set can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bringup_coverage.ranking.needs import Need

STEPS = 3_000
"""Of the search for a smaller set; where they do not suffice, what greedy steps found stands."""


@dataclass(frozen=True)
class Smallest:
    """The smallest set found.

    Attributes:
        kernels: the set.
        at_least: no set that meets the needs has fewer.
    """

    kernels: frozenset[str]
    at_least: int


def smallest(needs: Iterable[Need], steps: int = STEPS) -> Smallest:
    """A small set that meets the needs; the same one for the same needs."""
    wanted = sorted({n.overload: n for n in needs}.values(), key=lambda n: n.overload)
    forced = frozenset(name for need in wanted for name in frozenset.intersection(*need.ways))
    left = [n for n in wanted if not n.met(forced)]
    chosen = pruned(greedy(forced, left), forced, left)
    search = _Search(chosen, steps)
    search.from_here(forced, left)
    least = len(forced) + disjoint(forced, left)
    return Smallest(search.best, len(search.best) if search.steps > 0 else least)


def greedy(start: frozenset[str], needs: list[Need]) -> frozenset[str]:
    """`start` and, step by step, the way that meets the most open needs for each kernel that it adds."""
    chosen = start
    while still_open := [n for n in needs if not n.met(chosen)]:
        options: list[frozenset[str]] = sorted({w - chosen for need in still_open for w in need.ways}, key=sorted)
        worth = [sum(n.met(chosen | option) for n in still_open) / len(option) for option in options]
        chosen |= options[worth.index(max(worth))]
    return chosen


def pruned(chosen: frozenset[str], forced: frozenset[str], needs: list[Need]) -> frozenset[str]:
    """The set without elements that the others make unneeded; first those go that the fewest ways have."""
    uses = {name: sum(name in n.helpful for n in needs) for name in chosen}
    for name in sorted(chosen - forced, key=lambda n: (uses[n], n)):
        if all(n.met(chosen - {name}) for n in needs):
            chosen -= {name}
    return chosen


def disjoint(chosen: frozenset[str], needs: list[Need]) -> int:
    """How many kernels beyond the chosen ones are called for by needs that share none in any of their ways."""
    total, taken = 0, frozenset[str]()
    for need in sorted(needs, key=lambda n: (len(n.helpful - chosen), n.overload)):
        rest = need.helpful - chosen
        if not need.met(chosen) and not rest & taken:
            total += min(len(way - chosen) for way in need.ways)
            taken |= rest
    return total


class _Search:
    """Branch and bound: each way of an open need is tried, unless no set that has it can be smaller than the best one known."""

    def __init__(self, best: frozenset[str], steps: int) -> None:
        self.best = best
        self.steps = steps

    def from_here(self, chosen: frozenset[str], needs: list[Need]) -> None:
        """Look for smaller sets that hold `chosen`, while there are steps left."""
        if self.steps <= 0:
            return
        self.steps -= 1
        left = [n for n in needs if not n.met(chosen)]
        if len(chosen) + disjoint(chosen, left) >= len(self.best):
            return
        if not left:
            self.best = chosen
            return
        need = max(left, key=lambda n: (min(len(w - chosen) for w in n.ways), n.overload))
        for way in sorted(need.ways, key=lambda w: (len(w - chosen), sorted(w))):
            self.from_here(chosen | way, left)
