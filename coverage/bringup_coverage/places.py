"""Where a decomposition stands: file and line of the function, and whose it is."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Place:
    """A function in its source.

    Attributes:
        origin: ``pytorch``, ``bringup``, or ``user`` for any other package.
        function: its qualified name.
        file: from the folder that packages are imported from, such as ``torch/_refs/__init__.py``; empty for compiled code.
        line: where it begins, with its decorators; 0 for compiled code.
    """

    origin: str
    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else self.function

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def place_of(function: Callable[..., Any]) -> Place:
    """Where a function stands, wrappers and partial applications looked through."""
    inner = _innermost(function)
    module = str(getattr(inner, "__module__", "") or "")
    origin = {"torch": "pytorch", "bringup": "bringup"}.get(module.partition(".")[0], "user")
    name = str(getattr(inner, "__qualname__", type(inner).__name__)).replace(".<locals>", "")
    code = getattr(inner, "__code__", None)
    if code is None:
        return Place(origin, name, "", 0)
    return Place(origin, name, _from_its_root(code.co_filename), code.co_firstlineno)


def _innermost(function: Any) -> Any:
    """The plain function inside wrappers, partial applications, bound methods and objects that are called."""
    while True:
        inner = inspect.unwrap(function)
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif inspect.ismethod(inner):
            inner = inner.__func__
        elif not inspect.isroutine(inner) and callable(inner) and inspect.isfunction(type(inner).__call__):
            inner = type(inner).__call__
        if inner is function:
            return inner
        function = inner


@functools.cache
def _from_its_root(file: str) -> str:
    """The path from the folder on the import path that holds it, the longest there is."""
    path = Path(file).resolve()
    roots = _roots(tuple(sys.path))
    holding = [parent for parent in path.parents if parent in roots]
    return str(path.relative_to(holding[0])) if holding else str(path)


@functools.cache
def _roots(entries: tuple[str, ...]) -> frozenset[Path]:
    """The folders of the import path."""
    return frozenset(Path(entry or ".").resolve() for entry in entries)
