"""The functional form of an overload that writes to its arguments: what functionalization makes of it."""

from __future__ import annotations

from functools import cache

from bringup.torch_internals import find_overload
from bringup_coverage.catalogue import Kind, catalogue


@cache
def functional_form(name: str) -> str | None:
    """The functional overload of the same operator that takes the same arguments, but for those that ``out=`` names; None without one."""
    everything = catalogue().operators
    if name not in everything or everything[name].kind is Kind.FUNCTIONAL:
        return None
    wanted = _taken(name)
    siblings = (n for n in _variants()[name] if everything[n].kind is Kind.FUNCTIONAL)
    return next((n for n in siblings if _taken(n) == wanted), None)


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    """The overloads of the same operator, by name."""
    return catalogue().variants()


def _taken(name: str) -> tuple[str, ...] | None:
    overload = find_overload(name)
    if overload is None:
        return None
    arguments = overload._schema.arguments
    return tuple(str(a.type) for a in arguments if not (a.kwarg_only and a.alias_info and a.alias_info.is_write))
