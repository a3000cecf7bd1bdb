"""Trying calls of one overload until enough are accepted."""

from __future__ import annotations

from collections.abc import Callable

from bringup_coverage.calls.dtypes import made_for
from bringup_coverage.calls.eager import one_line, run
from bringup_coverage.calls.outs import settled
from bringup_coverage.calls.plain import NotPlain, Plain, to_plain
from bringup_coverage.calls.rows import refused
from bringup_coverage.calls.schema import Signature, signature
from bringup_coverage.calls.search import unmade
from bringup_coverage.calls.sources import ENOUGH, Found, Knowledge, Stage, Values, stages

NO_KERNEL = "PyTorch has no kernel of it for dense tensors on the CPU."
"""Why an operator of another device only has no calls."""

_NO_KERNEL_ERROR = "NotImplementedError: Could not run"
_NO_KERNEL = 12
"""Calls that end in "no kernel for this backend" before the search gives up: other arguments will not bring one."""


def resolve(overload: str, knowledge: Knowledge, mark: Callable[[int], bool]) -> Found:
    """Try calls until enough are accepted.

    Args:
        overload: which.
        knowledge: recordings, and what was found for others.
        mark: told the number of each try before it starts; False leaves it out, for it killed a worker before.
    """
    reason = refused(signature(overload))
    if reason:
        return Found(overload, (), reason)
    known = [knowledge.found[n] for n in knowledge.registry.functional(signature(overload)) if n in knowledge.found]
    if any(p.written for p in signature(overload).parameters) and known and not any(f.calls for f in known):
        return Found(overload, (), known[0].why)
    base = knowledge.float32.get(overload)
    attempts = _Attempts(signature(overload), knowledge.dtype)
    for stage in stages(signature(overload), knowledge, lambda: len(attempts.accepted)):
        if attempts.wanted(stage.needed):
            attempts.run(stage, mark)
    if attempts.accepted:
        return Found(overload, attempts.best())
    return Found(overload, (), base.why if base is not None and base.why else attempts.reason())


class _Attempts:
    """Runs tries and keeps what eager accepts."""

    def __init__(self, wanted: Signature, dtype: str) -> None:
        self.signature, self.dtype = wanted, dtype
        self.accepted: list[tuple[Plain, str, bool]] = []
        self.patterns: set[str] = set()
        self.number = 0
        self.errors: list[str] = []

    def wanted(self, enough: int) -> bool:
        return sum(sound for _, _, sound in self.accepted) < enough

    def run(self, stage: Stage, mark: Callable[[int], bool]) -> None:
        for _ in range(stage.tries):
            self.number += 1
            allowed = mark(self.number)
            if not allowed:
                self.errors.append("the process died or hung")
                if self.accepted:
                    return  # what is left of this source is no better
            try:
                given = next(stage.values, None)
            except Exception as error:  # a call that cannot be read back or completed
                self.errors.append(one_line(error))
                return
            if given is None or not self.wanted(stage.enough):
                return
            if sum(e.startswith(_NO_KERNEL_ERROR) for e in self.errors) >= _NO_KERNEL:
                return
            if allowed:
                self.attempt(stage.source, given)

    def attempt(self, source: str, values: Values) -> None:
        call = self.signature.call(values)
        if not made_for(*call, self.dtype):
            return
        trial = run(self.signature.overload, *call)
        if trial.accepted and self.signature.outs:
            call = self.signature.call(settled(self.signature, values, trial))
            trial = run(self.signature.overload, *call)
        if not trial.accepted:
            self.errors.append(trial.error)
            return
        try:
            plain = to_plain(*call)
        except NotPlain as error:
            self.errors.append(f"eager accepts {error}, which a recipe does not hold")
            return
        if plain.text not in self.patterns:
            self.patterns.add(plain.text)
            self.accepted.append((plain, source, trial.sound))

    def best(self) -> tuple[tuple[Plain, str], ...]:
        ordered = sorted(self.accepted, key=lambda a: not a[2])
        return tuple((plain, source) for plain, source, _ in ordered[:ENOUGH])

    def reason(self) -> str:
        if missing := unmade(self.signature):
            return f"No rule makes a value for {' and '.join(missing)}."
        if any(e.startswith(_NO_KERNEL_ERROR) for e in self.errors):
            return NO_KERNEL
        if not self.errors:
            return f"There was no call with a tensor of {self.dtype} to try."
        last = self.errors[-1].rstrip(".")
        return f"None of {len(self.errors)} calls tried was accepted; the last error of eager: {last}."
