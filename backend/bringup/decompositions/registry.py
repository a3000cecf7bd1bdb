"""Tables of decompositions: an overload and the function that expresses it in smaller operators.

A decomposition takes the overload's arguments and returns its results. It is functional (no in-place operator inside),
and may return `NotImplemented` for calls that it does not cover; such a call stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from bringup.errors import TargetError
from bringup.torch_internals import OpOverload, OpOverloadPacket, find_overload, overload_name

Decomposition = Callable[..., Any]
F = TypeVar("F", bound=Decomposition)


class Decompositions(Mapping[OpOverload, Decomposition]):
    """A table of decompositions; a second entry for an overload is an error."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.absent: list[str] = []  # names that this torch does not have; a test holds it empty on the pinned release
        self._entries: dict[OpOverload, Decomposition] = {}

    def register(self, *names: str) -> Callable[[F], F]:
        """Register a function for the overloads called `names`, such as ``aten::silu``.

        A name that this torch does not have is left out: operators come and go between releases.

        Raises:
            TargetError: an overload has a decomposition already.
        """

        def add(fn: F) -> F:
            for name in names:
                overload = find_overload(name)
                if overload is None:
                    self.absent.append(name)
                    continue
                self.add(overload, fn)
            return fn

        return add

    def add(self, overload: OpOverload, fn: Decomposition) -> None:
        """Enter `fn` as the decomposition of `overload`.

        Raises:
            TargetError: it has one already.
        """
        if isinstance(overload, OpOverloadPacket):
            raise TargetError(f"{overload} names every overload; register one, such as {overload}.default")
        if overload in self._entries:
            first, second = self._entries[overload].__qualname__, getattr(fn, "__qualname__", repr(fn))
            raise TargetError(f"two decompositions for {overload_name(overload)}: {first} and {second}")
        self._entries[overload] = fn

    def __getitem__(self, overload: OpOverload) -> Decomposition:
        return self._entries[overload]

    def __iter__(self) -> Iterator[OpOverload]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def merge(tables: tuple[Mapping[OpOverload, Decomposition], ...]) -> dict[OpOverload, Decomposition]:
    """One table of several families.

    Raises:
        TargetError: two families have an entry for the same overload.
    """
    merged: dict[OpOverload, Decomposition] = {}
    for table in tables:
        for overload, fn in table.items():
            if overload in merged:
                raise TargetError(
                    f"two families decompose {overload_name(overload)}: {merged[overload].__module__}, {fn.__module__}"
                )
            merged[overload] = fn
    return merged
