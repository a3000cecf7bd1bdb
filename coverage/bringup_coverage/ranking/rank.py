"""The ranking: a row for every missing kernel, and the smallest set found for some models, in the order to write it in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bringup_coverage.ranking.needs import Need, Needs
from bringup_coverage.ranking.smallest import smallest

Counts = Mapping[str, int]
"""Calls by overload."""


@dataclass(frozen=True)
class Row:
    """One missing kernel.

    Attributes:
        overload: what it would run.
        unlocks_overloads: overloads that it alone would cover.
        unlocks_opinfos: OpInfos all of whose overloads would be covered with it alone.
        unlocks_models: models all of whose overloads would be covered with it alone.
        helps_overloads: further overloads that need it together with others.
        helps_opinfos: further OpInfos that need it together with others.
        helps_models: further models that need it together with others.
        calls: how often the models that lack something call overloads that it unlocks or helps.
        has_kernel: the target has a kernel for it that does not take the calls: it is to be widened, not written.
        order: its place in the smallest set found; None when it is not in it.
        models_after: wanted models that are covered when it and all before it in the set are there.
    """

    overload: str
    unlocks_overloads: int
    unlocks_opinfos: int
    unlocks_models: int
    helps_overloads: int
    helps_opinfos: int
    helps_models: int
    calls: int
    has_kernel: bool
    order: int | None = None
    models_after: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Ranking:
    """What to do next.

    Attributes:
        rows: the missing kernels, those that unlock the most models, OpInfos and overloads first.
        covered: of overloads, opinfos and models, how many are covered, and of how many.
        wanted: the models that the set is for.
        wanted_covered: how many of these are covered without it.
        at_least: no set that meets the needs has fewer kernels.
        unjudged: overloads that models or OpInfos call and that were not judged; they count as covered.
        needs: what the wanted models need.
    """

    rows: tuple[Row, ...]
    covered: Mapping[str, tuple[int, int]]
    wanted: tuple[str, ...]
    wanted_covered: int
    at_least: int
    unjudged: tuple[str, ...] = ()
    needs: tuple[Need, ...] = field(default=(), repr=False)

    @property
    def smallest(self) -> tuple[Row, ...]:
        """The rows of the smallest set found, in the order to write them in."""
        chosen = [r for r in self.rows if r.order is not None]
        return tuple(sorted(chosen, key=lambda r: r.order or 0))


def rank(
    needs: Needs, models: Mapping[str, Counts], opinfos: Mapping[str, Iterable[str]], wanted: Iterable[str]
) -> Ranking:
    """Rank the missing kernels.

    Args:
        needs: of the target.
        models: calls by overload, by model.
        opinfos: overloads by OpInfo.
        wanted: the models that the smallest set is for.
    """
    of_models = {name: needs.of_program(counts) for name, counts in models.items()}
    of_opinfos = {name: needs.of_program(names) for name, names in opinfos.items()}
    wanted = tuple(wanted)
    aims = {name: of_models[name] for name in wanted}
    everything = {n.overload: n for group in of_models.values() for n in group} | dict(needs.found)
    in_overloads = _Counted({name: (need,) for name, need in everything.items()})
    in_opinfos, in_models = _Counted(of_opinfos), _Counted(of_models)
    calls = _calls(of_models, models)
    open_needs = tuple({n.overload: n for group in aims.values() for n in group}.values())
    found = smallest(open_needs)
    places = order(found.kernels, aims, calls)
    rows = [
        Row(
            kernel,
            unlocks_overloads=in_overloads.unlocks[kernel],
            unlocks_opinfos=in_opinfos.unlocks[kernel],
            unlocks_models=in_models.unlocks[kernel],
            helps_overloads=in_overloads.helps[kernel],
            helps_opinfos=in_opinfos.helps[kernel],
            helps_models=in_models.helps[kernel],
            calls=calls[kernel],
            has_kernel=kernel in needs.kernels,
            order=places[kernel][0] if kernel in places else None,
            models_after=places[kernel][1] if kernel in places else None,
        )
        for kernel in sorted({k for need in everything.values() for k in need.helpful})
    ]
    called = {n for counts in models.values() for n in counts} | {n for names in opinfos.values() for n in names}
    return Ranking(
        tuple(sorted(rows, key=_rank)),
        {
            "overloads": (len(needs.known) - len(needs.found), len(needs.known)),
            "opinfos": (sum(not g for g in of_opinfos.values()), len(of_opinfos)),
            "models": (sum(not g for g in of_models.values()), len(of_models)),
        },
        wanted,
        sum(not group for group in aims.values()),
        found.at_least,
        tuple(sorted(needs.unjudged(called))),
        open_needs,
    )


def order(kernels: frozenset[str], aims: Mapping[str, tuple[Need, ...]], calls: Counts) -> dict[str, tuple[int, int]]:
    """The place of each kernel of a set, and how many models are covered with it and all before it.

    Step by step the model comes next whose kernels cover the most models for each kernel that they add; of these kernels, those that
    are called most.
    """
    parts = {name: _part(group, kernels) for name, group in sorted(aims.items()) if group}
    have: frozenset[str] = frozenset()
    places: dict[str, tuple[int, int]] = {}
    while still_open := {part - have for part in parts.values() if part - have}:
        steps: list[frozenset[str]] = sorted(still_open, key=sorted)
        worth = [sum(part <= have | step for part in parts.values()) / len(step) for step in steps]
        for kernel in sorted(steps[worth.index(max(worth))], key=lambda k: (-calls[k], k)):
            have |= {kernel}
            places[kernel] = (len(places) + 1, sum(all(n.met(have) for n in group) for group in aims.values()))
    return places


def _part(group: tuple[Need, ...], kernels: frozenset[str]) -> frozenset[str]:
    """Which kernels of the set a model needs."""
    part: frozenset[str] = frozenset()
    for need in group:
        if not need.met(part):
            part |= min((way for way in need.ways if way <= kernels), key=lambda way: (len(way - part), sorted(way)))
    return part


class _Counted:
    """By kernel, how many groups of needs it meets alone, and how many more it is part of a way of."""

    def __init__(self, groups: Mapping[str, tuple[Need, ...]]) -> None:
        self.unlocks: Counter[str] = Counter()
        self.helps: Counter[str] = Counter()
        for group in groups.values():
            alone = frozenset.intersection(*(n.alone for n in group)) if group else frozenset()
            self.unlocks.update(alone)
            self.helps.update(frozenset(k for n in group for k in n.helpful) - alone)


def _calls(of_models: Mapping[str, tuple[Need, ...]], models: Mapping[str, Counts]) -> Counter[str]:
    calls: Counter[str] = Counter()
    for name, group in of_models.items():
        for need in group:
            for kernel in need.helpful:
                calls[kernel] += models[name][need.overload]
    return calls


def _rank(row: Row) -> tuple[Any, ...]:
    unlocks = (row.unlocks_models, row.unlocks_opinfos, row.unlocks_overloads)
    helps = (row.helps_models, row.helps_opinfos, row.helps_overloads, row.calls)
    return (*(-n for n in unlocks), *(-n for n in helps), row.overload)
