"""Writing files so that nothing is left half-written and nothing else is harmed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bringup.errors import OptionError


def write_at_once(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old text or the new one.

    A link stays a link to what is written. What is no regular file (a pipe, a terminal, a device) is written to, not replaced.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_output(path: Path, text: str) -> None:
    """Write what a command was asked to write.

    Raises:
        OptionError: it cannot be written; the sentence says why.
    """
    try:
        write_at_once(path, text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}") from error
