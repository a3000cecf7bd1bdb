"""The counts that every report shows: per tier, in one order, and as shares that do not flatter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

TIERS = ("portable", "foreach", "random", "data-dependent", "sparse", "nested", "quantized", "vendor", "testing")


@dataclass(frozen=True, slots=True)
class Totals:
    """Overloads of one group, by verdict."""

    overloads: int
    native: int
    decomposed: int
    none: int
    operators: int = 0

    @property
    def share(self) -> float:
        """Covered overloads of all, 0 to 1; a group without any has nothing covered."""
        return 0.0 if not self.overloads else (self.native + self.decomposed) / self.overloads

    @staticmethod
    def of(rows: Iterable[dict[str, Any]]) -> Totals:
        """Count rows of a report."""
        rows = list(rows)
        count = Counter(row["status"] for row in rows)
        operators = {(row.get("namespace"), packet(row)) for row in rows}
        return Totals(len(rows), count["native"], count["decomposed"], count["none"], len(operators))

    @staticmethod
    def read(data: dict[str, Any]) -> Totals:
        """The counts as a report states them."""
        return Totals(data["overloads"], data["native"], data["decomposed"], data["none"], data.get("operators", 0))


def packet(row: dict[str, Any]) -> str:
    """`add` of `aten::add.Tensor`."""
    name = row["name"].split("::", 1)[-1]
    return str(row.get("packet") or name.split(".", 1)[0])


def total(report: dict[str, Any]) -> Totals:
    """All overloads of a report."""
    return Totals.read(report["totals"]) if report.get("totals") else Totals.of(report["overloads"])


def by_tier(report: dict[str, Any]) -> dict[str, Totals]:
    """Totals per tier, the portable one first; counted here where the report does not state them."""
    stated = report.get("tiers")
    if stated:
        found = {str(tier): Totals.read(data) for tier, data in stated.items()}
    else:
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in report["overloads"]:
            rows.setdefault(row["tier"], []).append(row)
        found = {tier: Totals.of(group) for tier, group in rows.items()}
    known = [tier for tier in TIERS if tier in found]
    return {tier: found[tier] for tier in (*known, *sorted(found.keys() - set(known)))}


def by_reason(report: dict[str, Any]) -> dict[str, int]:
    """How often each reason was given, the most frequent first."""
    stated = report.get("reasons") or Counter(row["reason"] for row in report["overloads"] if row.get("reason"))
    return dict(sorted(stated.items(), key=lambda item: (-item[1], item[0])))


def headline(report: dict[str, Any]) -> tuple[str, Totals]:
    """The group a report is summed up by: the portable tier where there is one, else everything."""
    tiers = by_tier(report)
    return ("portable", tiers["portable"]) if "portable" in tiers else ("operator", total(report))


def percent(share: float) -> str:
    """`96.2 %`, rounded down: only all of it is 100.0 %."""
    return f"{math.floor(share * 1000 + 1e-9) / 10:.1f} %"


def left_out(what: str) -> str:
    """The name of what was left out of a scan, for a person."""
    return what.replace("_", " ").replace("torchscript", "TorchScript")


def wanted(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Overloads that are not covered, the portable ones and those that most models use first."""
    order = {tier: place for place, tier in enumerate(by_tier(report))}
    missing = [row for row in report["overloads"] if row["status"] == "none"]
    return sorted(missing, key=lambda row: (order.get(row["tier"], 99), -len(row.get("models") or ()), row["name"]))


def claim(report: dict[str, Any]) -> str:
    """What the share of a report says of its target: that overloads run, or only that they have a kernel or a decomposition."""
    name = report.get("target", "the target")
    if report.get("evidence") == "declared":
        return f"have a kernel or a decomposition on {name} (declared: no leaf was looked at)"
    return f"run on {name}"
