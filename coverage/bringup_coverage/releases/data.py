"""A difference as plain data: what `bringup diff --format json` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bringup_codegen.snapshots import Difference, Gains

if TYPE_CHECKING:
    from bringup_coverage.releases.effect import Effect


def to_data(difference: Difference, effect: Effect | None) -> dict[str, Any]:
    """All of it, names with their namespace."""
    return {
        "from": difference.old,
        "to": difference.new,
        "added": [_full(o.name) for o in difference.added],
        "removed": [_full(o.name) for o in difference.removed],
        "schema_changed": [
            {"name": _full(c.name), "from": c.old, "to": c.new, "backward_compatible": c.compatible}
            for c in difference.schemas
        ],
        "tags": [
            {"name": _full(n), "gained": list(g.gained), "lost": list(g.lost)} for n, g in difference.tags.items()
        ],
        "composite": [{"name": _full(n), "from": a, "to": b} for n, (a, b) in difference.composite.items()],
        "core": {"added": _names(difference.core.gained), "removed": _names(difference.core.lost)},
        "decompositions": {
            **_gains(difference.decompositions),
            "moved": [{"name": _full(n), "from": a, "to": b} for n, (a, b) in difference.moved.items()],
        },
        "meta": _gains(difference.meta),
        "derivatives": _gains(difference.derivatives),
        "dispatch_keys": [{"key": key, **_gains(g)} for key, g in difference.keys.items()],
        "target": None if effect is None else _of_target(effect),
    }


def _of_target(effect: Effect) -> dict[str, Any]:
    return {
        "name": effect.target,
        "kernels": effect.rows,
        "vanished": list(effect.vanished),
        "schema_changed": [_full(c.name) for c in effect.changed],
        "verdicts": [{"name": v.name, "from": v.old, "to": v.new, "why": v.why} for v in effect.verdicts],
        "new": [{"name": a.name, "tier": a.tier, "status": a.status, "why": a.why} for a in effect.arrivals],
        "to_do": list(effect.to_do),
    }


def _full(name: str) -> str:
    return f"aten::{name}"


def _names(names: tuple[str, ...]) -> list[str]:
    return [_full(n) for n in names]


def _gains(gains: Gains) -> dict[str, list[str]]:
    return {"gained": _names(gains.gained), "lost": _names(gains.lost)}
