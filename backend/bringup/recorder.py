"""What was compiled: programs, kernels, fallbacks and bytes, since the last reset or within a block."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from bringup.device.memory import buffer_bytes
from bringup.ir import Instruction, Program


@dataclass
class ProgramRecord:
    """One compiled program and what is known of its runs.

    Attributes:
        program: the program.
        weights: bytes by storage address of the weights it was run with.
        working_peak: most bytes of inputs, constants and intermediates live at once, over its runs.
    """

    program: Program
    weights: dict[int, int] = field(default_factory=dict)
    working_peak: int = 0
    _ticks: itertools.count[int] = field(default_factory=itertools.count)

    def tick(self) -> None:
        """Count one run (one atomic step, so that threads need no lock)."""
        next(self._ticks)

    @property
    def runs(self) -> int:
        """How often it ran."""
        return int(repr(self._ticks)[6:-1])

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data."""
        resident = sum(self.weights.values())
        return {
            "name": self.program.name,
            "target": self.program.target,
            "instructions": sum(1 for _ in self.program.walk()),
            "kernels": dict(sorted(_kernels(self.program).items())),
            "fallbacks": len(self.program.fallbacks()),
            "runs": self.runs,
            "bytes_resident": resident,
            "bytes_peak": resident + self.working_peak,
        }


def _kernels(program: Program) -> Counter[str]:
    native = (i for i in program.walk() if i.fallback is None and "::" in i.operation)
    return Counter(i.operation for i in native if not i.operation.startswith(("scalar::", "check::", "region::")))


def _fallbacks(program: Program) -> Iterator[tuple[Program, Instruction]]:
    yield from ((program, i) for i in program.instructions if i.fallback is not None)
    for region in program.regions:
        yield from _fallbacks(region)


def _crossing(program: Program, instruction: Instruction) -> int:
    names = [*instruction.reads(), *(r for r in instruction.results if r is not None)]
    return sum(buffer_bytes(program.buffers[name], {}) for name in names)


@dataclass
class Report:
    """What was compiled in a span of time. Programs may be added by several threads at once."""

    records: list[ProgramRecord] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, record: ProgramRecord) -> None:
        """Enter one compiled program."""
        with self._lock:
            self.records.append(record)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self.records.clear()

    def snapshot(self) -> Report:
        """A report of the same records that later compilations do not change."""
        with self._lock:
            return Report(list(self.records))

    @property
    def programs(self) -> list[Program]:
        """The programs, in the order they were compiled."""
        return [r.program for r in self.records]

    @property
    def kernels(self) -> dict[str, int]:
        """How many instructions use each kernel, by overload."""
        total: Counter[str] = Counter()
        for record in self.records:
            total += _kernels(record.program)
        return dict(sorted(total.items()))

    @property
    def fallbacks(self) -> list[dict[str, Any]]:
        """What runs on the host because the target cannot.

        Rows of operator, reason, detail, source line, count (instructions), runs (of their programs), and bytes_crossing
        (what goes to the host and back in one run of each instruction; symbolic sizes count as zero).
        """
        merged: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        for record in self.records:
            for program, instruction in _fallbacks(record.program):
                assert instruction.fallback is not None
                reason = instruction.fallback.reason.value
                key = (instruction.operation, reason, instruction.fallback.detail, instruction.source)
                names = ("operator", "reason", "detail", "source")
                row = merged.setdefault(
                    key, {**dict(zip(names, key, strict=True)), "count": 0, "runs": 0, "bytes_crossing": 0}
                )
                row["count"] += 1
                row["bytes_crossing"] += _crossing(program, instruction)
                row["runs"] += record.runs
        return [merged[k] for k in sorted(merged)]

    @property
    def bytes_resident(self) -> int:
        """Bytes of the distinct weight storages that the programs ran with."""
        weights: dict[int, int] = {}
        for record in self.records:
            weights |= record.weights
        return sum(weights.values())

    @property
    def bytes_peak(self) -> int:
        """Resident bytes and the largest working memory of any one program."""
        return self.bytes_resident + max((r.working_peak for r in self.records), default=0)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "programs": [r.to_dict() for r in self.records],
            "kernels": self.kernels,
            "fallbacks": self.fallbacks,
            "bytes_resident": self.bytes_resident,
            "bytes_peak": self.bytes_peak,
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self.records)} programs, {sum(self.kernels.values())} kernel instructions of {len(self.kernels)} kernels"
        ]
        lines.append(f"resident {self.bytes_resident:,} bytes, peak {self.bytes_peak:,} bytes")
        lines += [
            f"on the host: {f['operator']} x{f['count']} ({f['reason']}: {f['detail']}) {f['source']}"
            for f in self.fallbacks
        ]
        return "\n".join(lines)


_GLOBAL = Report()
_SCOPES: ContextVar[tuple[Report, ...]] = ContextVar("bringup_recordings", default=())


def record(entry: ProgramRecord) -> None:
    """Enter a compiled program in the global report and in every open recording."""
    for report_ in (_GLOBAL, *_SCOPES.get()):
        report_.add(entry)


def report() -> Report:
    """What was compiled since the last `reset`."""
    return _GLOBAL.snapshot()


def reset() -> None:
    """Forget what was compiled; compiled functions keep working."""
    _GLOBAL.clear()


@contextlib.contextmanager
def recording() -> Iterator[Report]:
    """A report of what is compiled within the block, by this thread and context.

    Example:
        >>> with bringup.recording() as r:
        ...     torch.compile(model, backend="bringup")(x)
        >>> r.fallbacks
        []
    """
    scope = Report()
    token = _SCOPES.set((*_SCOPES.get(), scope))
    try:
        yield scope
    finally:
        _SCOPES.reset(token)
