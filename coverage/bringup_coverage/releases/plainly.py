"""Errors of snapshots as errors of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bringup.errors import OptionError
from bringup_codegen.snapshots import SnapshotError


@contextmanager
def plainly() -> Iterator[None]:
    """A SnapshotError inside becomes an OptionError, which a command says in one sentence."""
    try:
        yield
    except SnapshotError as error:
        raise OptionError(str(error)) from error
