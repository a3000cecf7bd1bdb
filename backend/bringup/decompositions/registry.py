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
    """A table of decompositions; a second entry for an overload is an error.

    Entries for operators of other packages appear when those register them (`register_later`).
    """

    def __init__(self, family: str) -> None:
        self.family = family
        self.absent: list[str] = []  # names that this torch does not have; a test holds it empty on the pinned release
        self._entries: dict[OpOverload, Decomposition] = {}
        self._later: dict[str, Decomposition] = {}

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

    def register_later(self, *names: str) -> Callable[[F], F]:
        """Register a function for operators that another package brings, such as ``transformers::grouped_mm_fallback``.

        The package is never imported for it: whoever reads the table sees the entries of those that exist by then.

        Raises:
            TargetError: a name has a decomposition already.
        """

        def add(fn: F) -> F:
            for name in names:
                if name in self._later:
                    raise TargetError(
                        f"two decompositions for {name}: {self._later[name].__qualname__} and {fn.__qualname__}"
                    )
                self._later[name] = fn
            return fn

        return add

    def arrived(self) -> dict[OpOverload, Decomposition]:
        """The entries registered for later whose operators exist now."""
        found = ((find_overload(name), fn) for name, fn in self._later.items())
        return {overload: fn for overload, fn in found if overload is not None}

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
        return self._entries[overload] if overload in self._entries else self._later[overload_name(overload)]

    def __iter__(self) -> Iterator[OpOverload]:
        yield from self._entries
        yield from self.arrived()

    def __len__(self) -> int:
        return len(self._entries) + len(self.arrived())


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
