"""Operator snapshots: one release's operators as text, what changed between two, the history of one operator.

What makes a snapshot (`build`, `sources`, `index`) is imported from its module: reading one needs no YAML.
"""

from bringup_codegen.snapshots.difference import Difference, Gains, SchemaChange, compare
from bringup_codegen.snapshots.history import Event, history, overloads_named
from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import Schema, SnapshotError
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
    "compare",
    "history",
    "load",
    "overloads_named",
    "read",
    "releases",
    "write",
]
