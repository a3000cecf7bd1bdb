"""A user's script or function, run under the recorder; what it called until it ended, however it ended."""

from __future__ import annotations

import contextlib
import importlib
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bringup.errors import OptionError
from bringup_coverage.usage.record import Recorder
from bringup_coverage.usage.usage import Usage


@dataclass(frozen=True)
class Captured:
    """A program that was run.

    Attributes:
        name: what it is called in a file of usages.
        usage: what it called.
        status: its exit status: what it gave `sys.exit`, 1 when it raised, 3 when it was interrupted.
        ended: where it did not end by itself, how.
    """

    name: str
    usage: Usage
    status: int = 0
    ended: str = ""


def capture_script(path: Path, arguments: Sequence[str]) -> Captured:
    """Run a script as ``python path arguments`` would, in this process."""

    def script() -> None:
        with _as_main(path, arguments):
            runpy.run_path(str(path), run_name="__main__")

    return _capture(path.stem, script, str(path))


def capture_call(spec: str) -> Captured:
    """Import ``package.module:function`` and call it without arguments; the import is not recorded.

    Raises:
        OptionError: there is no such function.
    """
    module, colon, name = spec.partition(":")
    if not colon or not module or not name:
        raise OptionError(f"--call {spec!r} is no function; write it as package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:  # a command's own directory is not searched otherwise
        sys.path.insert(0, here)
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"--call {spec!r} cannot be loaded: {error}") from error
    if not callable(function):
        raise OptionError(f"--call {spec!r} is a {type(function).__name__}, which cannot be called")
    return _capture(spec, function, getattr(getattr(function, "__code__", None), "co_filename", ""))


@contextlib.contextmanager
def _as_main(path: Path, arguments: Sequence[str]) -> Iterator[None]:
    before, searched = sys.argv, list(sys.path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before, searched


def _capture(name: str, program: Callable[[], Any], file: str) -> Captured:
    recorder = Recorder()
    try:
        with recorder:
            program()
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return Captured(name, recorder.usage, exit_.code or 0)
        print(exit_.code, file=sys.stderr)
        return Captured(name, recorder.usage, 1)
    except KeyboardInterrupt:
        return Captured(name, recorder.usage, 3, "was interrupted")
    except Exception as error:
        traceback.print_exception(type(error), error, _from_file(error.__traceback__, file))
        return Captured(name, recorder.usage, 1, f"raised {type(error).__name__}")
    return Captured(name, recorder.usage)


def _from_file(trace: Any, file: str) -> Any:
    """The traceback from the program's own first frame on; all of it when there is none."""
    start = trace
    while start is not None and start.tb_frame.f_code.co_filename != file:
        start = start.tb_next
    return start or trace
