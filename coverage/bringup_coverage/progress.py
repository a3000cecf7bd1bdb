"""The progress bar of a long run, on stderr; gone when the run ends, and silent where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[str], None]


@contextmanager
def progress(title: str, *, total: int, done: int = 0) -> Iterator[Advance]:
    """A bar of `total` cases, of which `done` were done before; gives what is called after each case, with its name."""
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
