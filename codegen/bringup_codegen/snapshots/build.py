"""A snapshot made of a release's sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import yaml

from bringup_codegen.snapshots.native_yaml import read_operators
from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.python_tables import core_decompositions, read_registrations
from bringup_codegen.snapshots.schema import Schema, SnapshotError
from bringup_codegen.snapshots.sources import DECOMP, DERIVATIVES, GENERATION, NATIVE, VERSION, Sources

_FIELDS = {"post_autograd": "decomposition", "pre_autograd": "pre_autograd", "meta": "meta"}


def build(sources: Sources) -> Snapshot:
    """The snapshot, without what only a running PyTorch shows."""
    operators = read_operators(sources.files[NATIVE], sources.files[GENERATION])
    facts: dict[str, dict[str, Any]] = defaultdict(dict)
    overloads = _by_packet(operators)
    for path, text in sorted(sources.files.items()):
        if not path.endswith(".py"):
            continue
        for registration in read_registrations(text, _module(path)):
            for name in _resolved(registration.overloads, overloads):
                facts[name][_FIELDS[registration.table]] = registration.function
    for name in _resolved(core_decompositions(sources.files[DECOMP]), overloads):
        if "decomposition" in facts[name]:
            facts[name]["core_decomposition"] = True
    for name in _derivatives(sources.files.get(DERIVATIVES, "[]")):
        facts[name]["derivative"] = True
    told = {name: replace(operator, **facts.get(name, {})) for name, operator in operators.items()}
    version = _constant(sources.files[VERSION], "__version__").partition("+")[0]
    return Snapshot(version, _constant(sources.files[VERSION], "git_version"), sources.origin, sources.hashes, told)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _constant(text: str, name: str) -> str:
    """A string that `torch/version.py` assigns."""
    found = re.search(rf"^{name}(?::[^=]*)? = '([^']*)'", text, re.MULTILINE)
    if not found:
        raise SnapshotError(f"torch/version.py assigns no {name}")
    return found[1]


def _by_packet(operators: Mapping[str, Operator]) -> dict[str, list[str]]:
    packets: dict[str, list[str]] = defaultdict(list)
    for name in operators:
        packets[name.partition(".")[0]].append(name)
    return packets


def _resolved(names: Iterable[str], overloads: Mapping[str, list[str]]) -> list[str]:
    """Overloads that names stand for: `add` for all of them, `add.default` for the one without a name."""
    found = []
    for name in names:
        packet, dot, overload = name.partition(".")
        wanted = packet if overload == "default" else name
        found += [wanted] if dot and wanted in overloads.get(packet, ()) else [] if dot else overloads.get(name, [])
    return found


def _derivatives(text: str) -> list[str]:
    """Overloads that have a formula."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [Schema.name_of(entry["name"]) for entry in yaml.load(text, Loader=loader) if "name" in entry]
