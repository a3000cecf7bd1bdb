"""The report of a scan: plain data, one entry for each overload, totals by tier and namespace."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

import torch

from bringup_coverage.catalogue import Catalogue, Operator
from bringup_coverage.scan.declared import Claims
from bringup_coverage.scan.forms import functional_form
from bringup_coverage.usage import models_using

SCHEMA_VERSION = 1

REASONS = {
    "no-decomposition": "no kernel, and no decomposition into other operators",
    "leaf-missing": "it decomposes, but an operator that it ends in has no kernel",
    "dtype": "the kernel does not take the dtype",
    "constraint": "the kernel does not take the call's shapes, layout or attributes",
    "untraceable": "PyTorch cannot trace it",
    "data-dependent": "a size, a number or a branch depends on data in a way that cannot be traced",
    "custom-operator": "a custom operator without a kernel",
    "layout": "it works on sparse, nested or quantized tensors",
    "vendor": "it belongs to a vendor's library, a device that is not here, or PyTorch's own machinery",
    "no-registration": "nothing is registered for the dispatch key",
    "no-call": "no call of it could be made here, so that nothing is known",
    "backend-error": "the backend refuses it, or fails to compile or run it",
    "wrong-result": "it runs, but the result is not eager's",
    "host-fallback": "part of it runs on the host",
    "crash": "the process died",
    "timeout": "it took too long",
    "internal-error": "bringup itself failed on it: a fault to report, not a verdict",
}
"""The closed set of reasons for a verdict of none."""

STATUSES = ("native", "decomposed", "none")


def entry(
    operator: Operator, declared: Claims, found: dict[str, Any] | None, variants: tuple[str, ...]
) -> dict[str, Any]:
    """One overload's entry; without evidence from calls, what the tables declare."""
    claim = declared.claim(operator)
    status, reason, detail = claim.status, claim.reason, claim.detail
    evidence: dict[str, Any] = {"level": "declared", "samples": 0, "dtypes": [], "dynamic": None, "gradient": None}
    evidence |= {"worst_error": None, "sources": list(claim.sources), "problems": []}
    through = list(claim.through)
    by_dtype: dict[str, str] = {}
    if found is not None and found["statuses"]:
        status, reason, detail = found["status"], found["reason"], found["detail"]
        through = found["through"] if status == "decomposed" else []
        by_dtype = {dtype: _worst(statuses) for dtype, statuses in found["statuses"].items()}
        ran = bool(found["ran"])
        evidence = {
            "level": "run" if ran else "traced",
            "samples": found["ran"] if ran else sum(len(s) for s in found["statuses"].values()),
            "dtypes": found["ran_dtypes"] if ran else [d for d, s in by_dtype.items() if s != "none"],
            "dynamic": found["dynamic"],
            "gradient": found["gradient"],
            "worst_error": found["worst_error"],
            "sources": found["sources"],
            "problems": found["problems"],
        }
    elif found is not None:
        evidence["no_call"] = found["no_call"]
        if found["reason"] is not None:
            status, reason, detail = "none", found["reason"], found["detail"]
    return {
        "name": operator.name,
        "schema": operator.schema,
        "namespace": operator.namespace,
        "packet": operator.packet,
        "kind": operator.kind.value,
        "view": operator.view,
        "tier": operator.tier,
        "tags": list(operator.tags),
        "composite": operator.composite,
        "variants": list(variants),
        "status": status,
        "reason": reason,
        "detail": detail,
        "through": through,
        "decomposition": dict(claim.decomposition) if claim.decomposition and status == "decomposed" else None,
        "models": models_using(operator.name) if "Tensor" in operator.schema else [],  # else it is the host's work
        "missing": found["missing"] if found is not None else list(claim.missing),
        "evidence": evidence,
        "dtypes": by_dtype,
    }


def _worst(statuses: list[str]) -> str:
    return next(s for s in reversed(STATUSES) if s in statuses)


def report(
    target: str,
    level: str,
    catalogue: Catalogue,
    declared: Claims,
    found: dict[str, dict[str, Any]],
    *,
    release: str | None = None,
) -> dict[str, Any]:
    """The whole report, entries sorted by name; `release` is the one that the catalogue is of, the installed one if not given."""
    variants = catalogue.variants()
    entries = [entry(o, declared, found.get(n), variants[n]) for n, o in sorted(catalogue.operators.items())]
    return {
        "schema_version": SCHEMA_VERSION,
        "torch": release or torch.__version__.partition("+")[0],
        "target": target,
        "evidence": level,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "bringup": version("bringup"),
        "totals": totals(entries),
        "tiers": _grouped(entries, "tier"),
        "namespaces": _grouped(entries, "namespace"),
        "reasons": dict(sorted(Counter(e["reason"] for e in entries if e["reason"]).items())),
        "skipped": {"torchscript_builtins": catalogue.builtins} if catalogue.builtins else {},
        "overloads": entries,
    }


def share_symbolic_sizes(entries: list[dict[str, Any]]) -> None:
    """An overload that writes to its arguments runs with symbolic sizes as the functional one that functionalization makes of it."""
    judged = {e["name"]: e["evidence"]["dynamic"] for e in entries}
    for row in entries:
        if row["evidence"]["level"] != "declared" and row["status"] != "none" and row["evidence"]["dynamic"] is None:
            row["evidence"]["dynamic"] = judged.get(functional_form(row["name"]) or "")


def totals(entries: list[dict[str, Any]]) -> dict[str, int]:
    """Operators, overloads, and overloads by status."""
    counts = Counter(e["status"] for e in entries)
    operators = len({(e["namespace"], e["packet"]) for e in entries})
    return {"operators": operators, "overloads": len(entries), **{s: counts[s] for s in STATUSES}}


def _grouped(entries: list[dict[str, Any]], key: str) -> dict[str, dict[str, int]]:
    groups = sorted({e[key] for e in entries})
    return {group: totals([e for e in entries if e[key] == group]) for group in groups}
