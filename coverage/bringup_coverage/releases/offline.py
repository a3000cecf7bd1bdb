"""A declared scan of a release that is not installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bringup_codegen.snapshots import load
from bringup_coverage.catalogue import Catalogue, Operator
from bringup_coverage.releases.catalogue import catalogue_of
from bringup_coverage.releases.plainly import plainly
from bringup_coverage.releases.tables import Tables
from bringup_coverage.scan.report import report


def scan_release(
    release: str, target: str, *, optional_kernels: bool = True, chosen: Callable[[Operator], bool] = lambda _: True
) -> dict[str, Any]:
    """The report of a target's tables against a release's snapshot: the `aten` operators, a claim by the tables alone.

    Raises:
        OptionError: there is no such snapshot or target.
    """
    with plainly():
        snapshot = load(release)
        everything = catalogue_of(snapshot)
    wanted = Catalogue({n: o for n, o in everything.operators.items() if chosen(o)}, 0)
    tables = Tables.of(target, optional_kernels=optional_kernels)
    declared = tables.declared(snapshot, everything)
    made = report(tables.name, "declared", wanted, declared, {}, release=snapshot.torch)
    return made | {"complete": len(wanted.operators) == len(everything.operators)}
