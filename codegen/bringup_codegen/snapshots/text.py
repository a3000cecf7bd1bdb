"""A snapshot as text: a header, then one sorted stanza per overload, schema first, facts indented, defaults left out."""

from __future__ import annotations

from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import SnapshotError

HEADER = "# An operator snapshot, generated from a PyTorch wheel; do not edit."


def write(snapshot: Snapshot) -> str:
    """The text of a snapshot."""
    lines = [HEADER, f"torch {snapshot.torch}", f"git {snapshot.git}", f"source {snapshot.source}"]
    for _, op in sorted(snapshot.operators.items()):
        lines.append(f"aten::{op.schema}")
        facts = {"tags": op.tags, "keys": op.keys, "autogen": op.autogen}
        lines += [f"  {fact} {' '.join(value)}" for fact, value in facts.items() if value]
        if op.composite:
            lines.append(f"  composite {op.composite}")
        if op.structured:
            lines.append("  structured yes")
        if op.variants != ("function",):
            lines.append(f"  variants {' '.join(op.variants)}")
    return "\n".join(lines) + "\n"


def read(text: str, where: str) -> Snapshot:
    """The snapshot of a text; `where` is its place, for errors."""
    header: dict[str, str] = {}
    stanzas = text.split("\naten::")
    for line in stanzas[0].splitlines()[1:]:
        key, _, value = line.partition(" ")
        header[key] = value
    if not text.startswith(HEADER) or set(header) != {"torch", "git", "source"}:
        raise SnapshotError(f"{where} is no operator snapshot: its header is not torch, git and source")
    operators = {}
    for stanza in stanzas[1:]:
        op = _stanza(stanza, where)
        operators[op.name] = op
    return Snapshot(header["torch"], header["git"], header["source"], operators)


def _stanza(stanza: str, where: str) -> Operator:
    schema, *lines = stanza.rstrip("\n").split("\n")
    facts: dict[str, tuple[str, ...]] = {}
    for line in lines:
        fact, *value = line.split()
        facts[fact] = tuple(value)
    composite, structured = facts.pop("composite", ("",)), facts.pop("structured", ())
    try:
        return Operator(schema.split("(")[0], schema, composite=composite[0], structured=bool(structured), **facts)  # type: ignore[arg-type]
    except TypeError:
        raise SnapshotError(f"{where}: unknown fact in the stanza of aten::{schema}: {', '.join(facts)}") from None
