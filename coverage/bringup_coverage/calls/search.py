"""Best-first search for a call of one overload from ranked candidates for each of its inputs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import torch

from bringup_coverage.calls.schema import Signature
from bringup_coverage.calls.tensors import World
from bringup_coverage.calls.values import LEFT_OUT, candidates

_WORLDS: tuple[tuple[int, World], ...] = (
    (0, World(2, torch.float32)),
    (1, World(3, torch.float32)),
    (1, World(4, torch.float32)),
    (1, World(1, torch.float32)),
    (2, World(2, torch.int64)),
    (2, World(5, torch.float32)),
    (2, World(2, torch.bool)),
    (3, World(0, torch.float32)),
    (3, World(2, torch.complex64)),
    (3, World(2, torch.uint8)),
    (3, World(2, torch.bfloat16)),
    (3, World(2, torch.float64)),
    (4, World(2, torch.int8)),
    (4, World(1, torch.int64)),
)
"""What is tried, and how late: the cost at which a world enters the queue."""


def synthesized(wanted: Signature, tries: int) -> Iterator[dict[str, Any]]:
    """Values for the inputs of `wanted`, the likeliest first, at most `tries`."""
    choices = [[candidates(p, world) for p in wanted.inputs] for _, world in _WORLDS]
    if any(not c for c in choices[0]):
        return
    start = (0,) * len(wanted.inputs)
    queue: list[tuple[int, int, tuple[int, ...]]] = [(cost, number, start) for number, (cost, _) in enumerate(_WORLDS)]
    seen: set[tuple[int, tuple[int, ...]]] = {(number, start) for _, number, _ in queue}
    heapq.heapify(queue)
    for _ in range(tries):
        if not queue:
            return
        cost, number, places = heapq.heappop(queue)
        chosen = [options[i] for options, i in zip(choices[number], places, strict=True)]
        yield {p.name: v for p, v in zip(wanted.inputs, chosen, strict=True) if v is not LEFT_OUT}
        for at, i in enumerate(places):
            after = (*places[:at], i + 1, *places[at + 1 :])
            if i + 1 < len(choices[number][at]) and (number, after) not in seen:
                seen.add((number, after))
                heapq.heappush(queue, (cost + _step(choices[number][at], i), number, after))


def _step(options: list[Any], i: int) -> int:
    """What it costs to go from the candidate at `i` to the next: a parameter that may be left out mostly should be."""
    if options[0] is LEFT_OUT:
        return 3
    return 1 + (i > 1)


def unmade(wanted: Signature) -> list[str]:
    """The types of the inputs that no rule makes a value of."""
    world = _WORLDS[0][1]
    return sorted({f"{p.type} {p.name}" for p in wanted.inputs if not candidates(p, world)})
