"""Building the index of one dtype: record, then resolve every overload in forked workers, in four passes."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from bringup.torch_internals import registered_names
from bringup_coverage.calls.donors import Registry, related
from bringup_coverage.calls.programs import Program, databases, programs, record
from bringup_coverage.calls.recorder import Recording
from bringup_coverage.calls.resolve import resolve
from bringup_coverage.calls.schema import Signature, signature
from bringup_coverage.calls.sources import Found, Knowledge
from bringup_coverage.pool import run_isolated

_RECORD_SECONDS = 60.0
_RESOLVE_SECONDS = 20.0
_RESCUES = 8
"""Times that an overload is tried again after a call of it killed or stopped its worker."""

Task = TypeVar("Task")


def build(
    dtype: str = "float32",
    *,
    names: Sequence[str] | None = None,
    float32: dict[str, Found] | None = None,
    known: dict[str, Found] | None = None,
    jobs: int = 1,
) -> dict[str, Found]:
    """What was found for each overload of aten.

    Args:
        dtype: such as ``float32``.
        names: only these; then only programs that bear on them are recorded.
        float32: the index of float32, which those of other dtypes are derived from.
        known: what was found before for other overloads; their calls help.
        jobs: workers at a time.
    """
    everything = registered_names("aten")
    knowledge = Knowledge(Registry.of(everything), dtype, found=dict(known or {}), float32=float32 or {})
    wanted = list(everything if names is None else names)
    knowledge.recording = recorded(dtype, None if names is None else wanted, jobs)
    for chosen in _PASSES:
        todo = [n for n in wanted if chosen(signature(n)) and not _calls(knowledge, n)]
        results = _resolved(todo, knowledge, jobs)
        knowledge.found.update({n: f for n, f in results.items() if f.calls or n not in knowledge.found})
    return {n: knowledge.found[n] for n in wanted}


_PASSES: tuple[Callable[[Signature], bool], ...] = (
    lambda s: not any(p.written for p in s.parameters),
    lambda s: any(p.written for p in s.parameters) and not s.outs,
    lambda s: bool(s.outs),
    lambda s: True,
)
"""Functional overloads first, then those that write to their inputs, then out=; then the rest, from all that is known."""


def _calls(knowledge: Knowledge, name: str) -> bool:
    return name in knowledge.found and bool(knowledge.found[name].calls)


def recorded(dtype: str, names: Sequence[str] | None, jobs: int) -> Recording:
    """What the programs call, all of them or those that bear on the overloads called `names`."""
    todo = programs()
    if names is not None:
        bases = {base for name in names for base in related(signature(name).base)}
        todo = [p for p in todo if _title(p) in bases]
    results: dict[Program, Recording] = {}
    for program, recording in run_isolated(
        todo, partial(_record, dtype), lambda p, *_: (p, Recording()), jobs=jobs, timeout=_RECORD_SECONDS
    ):
        results[program] = recording
    whole = Recording()
    for program in todo:
        whole.merge(results[program])
    return whole


def _title(program: Program) -> str:
    entry = databases()[program.kind][program.place]
    return str(getattr(entry, "name", "")).removeprefix("nn.functional.").replace(".", "_")


def _record(dtype: str, program: Program) -> tuple[Program, Recording]:
    return program, record(program, dtype)


def _resolved(names: Sequence[str], knowledge: Knowledge, jobs: int) -> dict[str, Found]:
    """Resolve in workers; a call that kills or stops its worker is left out when the overload is tried again."""
    found: dict[str, Found] = {}
    skipped: dict[str, set[int]] = {name: set() for name in names}
    with mmap.mmap(-1, 4 * max(len(names), 1)) as marks:
        places = {name: 4 * i for i, name in enumerate(names)}
        for _ in range(_RESCUES + 1):
            todo = [name for name in names if name not in found]
            if not todo:
                break
            work = partial(_resolve, knowledge, marks, places, skipped)
            for name, result in run_isolated(todo, work, lambda n, *_: (n, None), jobs=jobs, timeout=_RESOLVE_SECONDS):
                if result is not None:
                    found[name] = result
                else:
                    skipped[name].add(struct.unpack_from("i", marks, places[name])[0])
    for name in names:
        found.setdefault(name, Found(name, (), f"{_RESCUES + 1} calls tried each killed or stopped the process."))
    return found


def _resolve(
    knowledge: Knowledge, marks: mmap.mmap, places: dict[str, int], skipped: dict[str, set[int]], name: str
) -> tuple[str, Found | None]:

    def mark(number: int) -> bool:
        struct.pack_into("i", marks, places[name], number)
        return number not in skipped[name]

    return name, resolve(name, knowledge, mark)
