"""Operator snapshots: one release's operators as text, what changed between two, the history of one operator."""

from bringup_codegen.snapshots.build import build
from bringup_codegen.snapshots.difference import Difference, Gains, SchemaChange, compare
from bringup_codegen.snapshots.history import Event, history, overloads_named
from bringup_codegen.snapshots.index import release_sources
from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import Schema, SnapshotError
from bringup_codegen.snapshots.sources import installed_sources, wheel_sources
from bringup_codegen.snapshots.store import load, releases
from bringup_codegen.snapshots.text import read, write

__all__ = [
    "Difference",
    "Event",
    "Gains",
    "Operator",
    "Schema",
    "SchemaChange",
    "Snapshot",
    "SnapshotError",
    "build",
    "compare",
    "history",
    "installed_sources",
    "load",
    "overloads_named",
    "read",
    "release_sources",
    "releases",
    "wheel_sources",
    "write",
]
