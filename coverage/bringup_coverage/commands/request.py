"""What `bringup coverage` was asked to scan: one value, checked once."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bringup_coverage.catalogue import Operator

SUBJECTS = {"target": "--target", "backend": "--backend", "dispatch_key": "--dispatch-key"}

LEVELS = {"target": ("traced", "declared", "run"), "backend": ("run",), "dispatch_key": ("declared",)}
"""The levels of evidence that there are of a subject, the usual one first."""

MEANINGLESS = {
    "target": (),
    "backend": ("optional_kernels",),
    "dispatch_key": ("optional_kernels", "dtypes", "forward_only", "jobs", "timeout", "fresh"),
}
"""Options that say nothing about a subject."""

OF_A_RELEASE = ("target", "evidence", "optional_kernels", "only", "tier", "torch")
"""Options that go with a release that is not installed: of it there are only tables."""

SECONDS = {"target": 60.0, "backend": 300.0, "dispatch_key": 60.0}
"""For one overload; a backend may call a C++ compiler a dozen times."""


@dataclass(frozen=True)
class Request:
    """A scan: of what, with which evidence, of which overloads, and how.

    Attributes:
        target: as `bringup.target.registry.find_target` takes it; ``sim`` when neither it nor another subject is given.
        backend: a torch.compile backend, as a black box.
        dispatch_key: a dispatch key of PyTorch.
        torch: a release to read from its snapshot, instead of the installed one.
        evidence: declared, traced or run; None for what is usual.
        dtypes: comma-separated; None for the usual ones.
        forward_only: leave gradients and symbolic sizes out.
        optional_kernels: use the target's optional kernels.
        only: shell pattern of overloads.
        tier: only overloads of this tier.
        jobs: workers at a time.
        timeout: seconds for one overload; None for what is usual.
        fresh: forget what earlier scans found.
    """

    target: str | None
    backend: str | None
    dispatch_key: str | None
    torch: str | None
    evidence: str | None
    dtypes: str | None
    forward_only: bool
    optional_kernels: bool
    only: str
    tier: str | None
    jobs: int
    timeout: float | None
    fresh: bool

    @property
    def subject(self) -> str:
        """What is scanned: ``target``, ``backend`` or ``dispatch_key``."""
        return next((s for s in SUBJECTS if getattr(self, s) is not None), "target")

    @property
    def level(self) -> str:
        """The level of evidence."""
        return self.evidence or ("declared" if self.torch is not None else LEVELS[self.subject][0])

    def check(self, given: Set[str]) -> None:
        """Refuse options that do not go together.

        Args:
            given: names of the options that were given on the command line.

        Raises:
            click.UsageError: they contradict each other, or one would change nothing.
        """
        named = [option for subject, option in SUBJECTS.items() if getattr(self, subject) is not None]
        if len(named) > 1:
            raise click.UsageError(f"{' and '.join(named)} do not go together: a scan is of one of them")
        if self.torch is not None:
            stray = sorted(given - set(OF_A_RELEASE))
            if stray:
                raise click.UsageError(
                    f"{_spelled(stray[0])} says nothing about --torch: of a release there are only tables"
                )
            if self.level != "declared":
                raise click.UsageError(
                    f"of a release that is not installed there is only --evidence declared, not {self.level}"
                )
        option, levels = SUBJECTS[self.subject], LEVELS[self.subject]
        if self.level not in levels:
            raise click.UsageError(f"of a {option[2:]} there is only --evidence {levels[0]}, not {self.level}")
        for name in MEANINGLESS[self.subject]:
            if name in given:
                raise click.UsageError(f"{_spelled(name)} says nothing about a {option[2:]}")

    def chosen(self, operator: Operator) -> bool:
        """Whether an operator is asked for."""
        return fnmatchcase(operator.name, self.only) and self.tier in (None, operator.tier)

    def scan(self) -> dict[str, Any]:
        """The report.

        Raises:
            OptionError: there is no such target, backend, key or dtype.
            click.UsageError: no overload is asked for.
        """
        if self.torch is not None:
            from bringup_coverage.releases.offline import scan_release

            found = scan_release(
                self.torch, self.target or "sim", optional_kernels=self.optional_kernels, chosen=self.chosen
            )
            return self._not_empty(found)
        from bringup_coverage.scan import Settings, checked_dtypes, scan
        from bringup_coverage.scan.black_box import BlackBox, scan_backend
        from bringup_coverage.scan.dispatch_key import scan_key

        dtypes = Settings().dtypes if self.dtypes is None else checked_dtypes(self.dtypes)
        more = not self.forward_only
        seconds = self.timeout or SECONDS[self.subject]
        if self.dispatch_key is not None:
            found = scan_key(self.dispatch_key, chosen=self.chosen)
        elif self.backend is not None:
            box = BlackBox(self.backend, dtypes, gradient=more, dynamic=more)
            found = scan_backend(box, jobs=self.jobs, timeout=seconds, fresh=self.fresh, chosen=self.chosen)
        else:
            settings = Settings(
                self.target or "sim",
                self.level,
                dtypes,
                gradient=more,
                dynamic=more,
                optional_kernels=self.optional_kernels,
            )
            chosen = self.chosen if self.only != "*" or self.tier else None
            found = scan(settings, jobs=self.jobs, timeout=seconds, fresh=self.fresh, chosen=chosen)
        return self._not_empty(found)

    def _not_empty(self, found: dict[str, Any]) -> dict[str, Any]:
        if not found["overloads"]:
            asked = f"--only {self.only!r}" + (f" with --tier {self.tier!r}" if self.tier else "")
            raise click.UsageError(f"{asked} matches no overload")
        return found


def _spelled(name: str) -> str:
    return "--optional-kernels/--required-only" if name == "optional_kernels" else f"--{name.replace('_', '-')}"
