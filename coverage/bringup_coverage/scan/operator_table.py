"""The operator table that every release ships (``native_functions.yaml``): which dispatch keys PyTorch itself has kernels for.

A build registers only the kernels of the devices that it was built for; the table lists them all. It does not list
kernels that are registered elsewhere: by other libraries, by other repositories, by hand.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

UFUNC_KEYS = ("CPU", "CUDA")
"""The keys that a ``ufunc_inner_loop`` makes kernels for, beside those that ``dispatch`` lists."""


@dataclass(frozen=True)
class OperatorTable:
    """What the table says, by operator.

    Attributes:
        keys: the dispatch keys that it has kernels for, structured delegates resolved.
        delegates: the out= overload that a structured operator's generic kernel calls.
        generated: the overload that a generated one calls.
    """

    keys: dict[str, frozenset[str]]
    delegates: dict[str, str]
    generated: dict[str, str]

    @staticmethod
    def of(entries: list[dict[str, Any]], structured: frozenset[str]) -> OperatorTable:
        """The table of parsed entries.

        Args:
            entries: of the file.
            structured: the keys whose kernels of a structured out= operator serve its functional and in-place forms.
        """
        by_name = {_name(e["func"]): e for e in entries}
        delegates = {n: f"aten::{e['structured_delegate']}" for n, e in by_name.items() if "structured_delegate" in e}
        own = {n: _keys(e) for n, e in by_name.items()}
        keys = {n: own[n] | (own.get(delegates.get(n, ""), frozenset()) & structured) for n in by_name}
        made = {
            f"aten::{m.strip()}": n for n, e in by_name.items() for m in e.get("autogen", "").split(",") if m.strip()
        }
        names = by_name.keys() | made.keys()
        return OperatorTable(keys, delegates, {m: _called(m, n, names) for m, n in made.items()})

    def listed(self, key: str) -> frozenset[str]:
        """The operators that it has a kernel of `key` for."""
        return frozenset(name for name, keys in self.keys.items() if key in keys)


def _name(func: str) -> str:
    return f"aten::{func.partition('(')[0]}"


def _called(made: str, by: str, names: Set[str]) -> str:
    """What a generated kernel calls: the functional form; that one calls the operator that it was generated for."""
    packet, dot, overload = by.partition(".")
    functional = packet.removesuffix("_") + dot + overload
    return functional if functional in names and functional != made else by


def _keys(entry: dict[str, Any]) -> frozenset[str]:
    listed = (key.strip() for keys in entry.get("dispatch") or {} for key in keys.split(","))
    return frozenset(listed) | frozenset(UFUNC_KEYS if "ufunc_inner_loop" in entry else ())


def table_file() -> Path | None:
    """The table of the installed release, or None when it ships none."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    return path if path.exists() else None


@cache
def operator_table() -> OperatorTable | None:
    """The table of the installed release, or None when it ships none. Parsed once."""
    path = table_file()
    if path is None:
        return None
    from torchgen.model import STRUCTURED_DISPATCH_KEYS

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one: 0.4 s, not 4
    entries = yaml.load(path.read_bytes(), Loader=loader)
    return OperatorTable.of(entries, frozenset(key.name for key in STRUCTURED_DISPATCH_KEYS))
