"""Where the calls to try come from, in order of preference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from bringup_coverage.calls.donors import Registry, adapt, worlds_of
from bringup_coverage.calls.dtypes import converted
from bringup_coverage.calls.outs import with_outs
from bringup_coverage.calls.plain import Plain, from_plain
from bringup_coverage.calls.recorder import Recording
from bringup_coverage.calls.rows import has_row, rows
from bringup_coverage.calls.schema import Signature, signature
from bringup_coverage.calls.search import synthesized

ENOUGH = 4
"""Calls of one overload that are kept."""

_SEARCH_TRIES = 200


@dataclass(frozen=True)
class Found:
    """What was found for one overload.

    Attributes:
        overload: its name.
        calls: accepted calls with their sources, the best first.
        why: where there is none, why not.
        schema: the schema that the calls fit, where the entry was read from a file.
    """

    overload: str
    calls: tuple[tuple[Plain, str], ...]
    why: str = ""
    schema: str = field(default="", compare=False)


@dataclass
class Knowledge:
    """What resolving one overload may draw on."""

    registry: Registry
    dtype: str = "float32"
    recording: Recording = field(default_factory=Recording)
    found: dict[str, Found] = field(default_factory=dict)
    float32: dict[str, Found] = field(default_factory=dict)


Values = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """One source of calls.

    Attributes:
        source: its name.
        values: what to try.
        tries: how many at most.
        needed: it is asked while fewer good calls than this are known.
        enough: it ends when so many good calls are known.
    """

    source: str
    values: Iterator[Values]
    tries: int = 60
    needed: int = 4
    enough: int = ENOUGH


def stages(wanted: Signature, knowledge: Knowledge, accepted: Callable[[], int]) -> Iterator[Stage]:
    """The sources in order of preference."""
    functional = knowledge.registry.functional(wanted)

    def completed(values: Iterator[Values]) -> Iterator[Values]:
        return _outs(wanted, values, functional, accepted)

    yield Stage("opinfo", _recorded(wanted, knowledge))
    yield Stage("binding", completed(_bound(wanted, knowledge)))
    if knowledge.dtype != "float32":
        yield Stage("variant", _converted(wanted, knowledge))
        return
    yield Stage("synthesized", completed(rows(wanted, functional)), needed=1)
    relatives = 1 if has_row(wanted, functional) else ENOUGH  # some with rows write out of bounds on other calls
    near, far = knowledge.registry.relatives(wanted), knowledge.registry.strangers(wanted)
    yield Stage("variant", completed(_given(wanted, near, knowledge)), needed=relatives)
    yield Stage("variant", completed(_given(wanted, far, knowledge)), needed=1)
    if any(n in knowledge.found and not knowledge.found[n].calls for n in [wanted.overload, *functional]):
        return  # the search has failed for it, or for the form that takes the same inputs
    found = synthesized(wanted, _SEARCH_TRIES)
    yield Stage("synthesized", completed(found), _SEARCH_TRIES, needed=1, enough=2)


def _recorded(wanted: Signature, knowledge: Knowledge) -> Iterator[Values]:
    for plain in knowledge.recording.overloads.get(wanted.overload, {}).values():
        values = wanted.bind(*from_plain(plain))
        if values is not None:
            yield values


def _bound(wanted: Signature, knowledge: Knowledge) -> Iterator[Values]:
    for name in dict.fromkeys([wanted.base, wanted.base.rstrip("_")]):
        for plain in knowledge.recording.functions.get(name, {}).values():
            args, kwargs = from_plain(plain)
            kwargs = {k: v for k, v in kwargs.items() if k != "out"}
            for spread in (args, args[0] if args and isinstance(args[0], list) else None):
                values = wanted.bind(spread, kwargs) if spread is not None else None
                if values is not None:
                    yield values


def _given(wanted: Signature, names: list[str], knowledge: Knowledge) -> Iterator[Values]:
    for name in names:
        donor = signature(name)
        for plain in _known(name, knowledge):
            call = donor.bind(*from_plain(plain))
            values = adapt(call, donor, wanted, next(worlds_of(call))) if call is not None else None
            if values is not None:
                yield values


def _known(name: str, knowledge: Knowledge) -> list[Plain]:
    """Calls of a relative: those accepted, or those recorded where it has not been resolved yet."""
    entry = knowledge.found.get(name)
    if entry is not None:
        return [plain for plain, _ in entry.calls]
    return list(knowledge.recording.overloads.get(name, {}).values())


def _converted(wanted: Signature, knowledge: Knowledge) -> Iterator[Values]:
    entry = knowledge.float32.get(wanted.overload)
    for plain, _ in entry.calls if entry else ():
        args, kwargs = from_plain(plain)
        for call in converted(args, kwargs, getattr(torch, knowledge.dtype)):
            values = wanted.bind(*call)
            if values is not None:
                yield values


def _outs(
    wanted: Signature, all_values: Iterator[Values], functional: list[str], accepted: Callable[[], int]
) -> Iterator[Values]:
    for values in all_values:
        inputs = {p.name: values[p.name] for p in wanted.inputs if p.name in values}
        yield from with_outs(wanted, inputs, functional, accepted)
