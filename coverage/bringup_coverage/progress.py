"""The progress of a long run, on stderr: a bar that is gone when the run ends, or now and then a line where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[str], None]

EVERY = 30.0
"""Seconds between two lines in a log."""


@contextmanager
def progress(title: str, *, total: int, done: int = 0) -> Iterator[Advance]:
    """A bar of `total` cases, of which `done` were done before; gives what is called after each case, with its name."""
    if not sys.stderr.isatty():
        yield _Log(title, total, done)
        return
    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, completed=done)
        yield lambda description: bar.update(task, advance=1, description=description)


class _Log:
    """Writes a line at most every `EVERY` seconds, the first after that long."""

    def __init__(self, title: str, total: int, done: int) -> None:
        self.title, self.total, self.done = title, total, done
        self.last = time.monotonic()

    def __call__(self, name: str) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            print(f"{self.title}: {self.done:,} of {self.total:,}, {name}", file=sys.stderr, flush=True)
