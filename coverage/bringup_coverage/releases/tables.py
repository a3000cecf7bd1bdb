"""A target's tables as names, so that they can be held against any release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bringup.decompositions import default_decompositions
from bringup.target.file import kernel_names, read_target_file
from bringup.target.registry import find_target
from bringup.torch_internals import overload_name
from bringup_codegen.snapshots import Snapshot
from bringup_coverage.catalogue import Catalogue
from bringup_coverage.places import place_of
from bringup_coverage.scan.declared import Declared


@dataclass(frozen=True)
class Tables:
    """What a target declares.

    Attributes:
        name: of the target.
        rows: overloads that it has kernels for.
        own: overloads that it has decompositions of its own for, with ``where`` the function is and its ``name``.
        pytorch: whether it has PyTorch's own table beside them.
    """

    name: str
    rows: frozenset[str]
    own: Mapping[str, Mapping[str, str]]
    pytorch: bool

    @staticmethod
    def of(spec: str, *, optional_kernels: bool = True) -> Tables:
        """The tables of a target as `--target` names it. A TOML file may list overloads that the installed torch does not have.

        Raises:
            OptionError: there is no such target.
        """
        if spec.endswith(".toml"):
            path = Path(spec)
            data = read_target_file(path)
            chosen = data.get("decompositions", "bringup")
            own = (
                _own({overload_name(o): f for o, f in default_decompositions().items()}) if chosen == "bringup" else {}
            )
            return Tables(str(data.get("name", path.stem)), frozenset(kernel_names(path, data)), own, chosen != "none")
        target = find_target(spec).with_options(optional_kernels=optional_kernels)
        entries = {overload_name(o): f for o, f in target.decompositions.items()}
        theirs = [n for n in entries if place_of(entries[n]).origin == "pytorch"]
        return Tables(target.name, frozenset(target.rows), _own(entries), bool(theirs))

    def declared(self, snapshot: Snapshot, catalogue: Catalogue) -> Declared:
        """What they claim of a release. Of PyTorch's own table it is what that release has, functional operators only."""
        entries: dict[str, Mapping[str, str]] = {}
        if self.pytorch:
            entries = {
                f"aten::{name}": _place(entry.decomposition)
                for name, entry in snapshot.operators.items()
                if entry.decomposition and entry.kind == "functional"
            }
        return Declared(self.rows, {**entries, **self.own}, catalogue)


def _place(function: str) -> Mapping[str, str]:
    module, _, name = function.rpartition(".")
    return {"where": module, "name": name}


def _own(entries: Mapping[str, Callable[..., Any]]) -> Mapping[str, Mapping[str, str]]:
    """Those that are not PyTorch's."""
    places = {name: place_of(function) for name, function in entries.items()}
    return {n: {"where": str(p), "name": p.function} for n, p in places.items() if p.origin != "pytorch"}
