"""Write compiled programs where the user asked for them."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

from bringup.errors import OptionError
from bringup.ir import Program

_NUMBERS = itertools.count(1)
_LOCK = threading.Lock()


def dump(program: Program, path: Path) -> Path:
    """Write a program's text: a new file in a folder, or appended to a file when `path` has a suffix.

    Raises:
        OptionError: the path cannot be written.
    """
    try:
        if path.suffix and not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            with _LOCK, path.open("a", encoding="utf-8") as file:
                file.write(str(program))
            return path
        path.mkdir(parents=True, exist_ok=True)
        file_path = path / f"{os.getpid()}_{next(_NUMBERS):03d}_{program.name}.txt"
        file_path.write_text(str(program), encoding="utf-8")
        return file_path
    except OSError as error:
        raise OptionError(f"option 'dump': cannot write to {str(path)!r}: {error.strerror or error}") from error
