"""A snapshot as text: a header, then one sorted stanza per overload, schema first, facts indented, defaults left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bringup_codegen.snapshots.operator import Operator, Snapshot
from bringup_codegen.snapshots.schema import Schema, SnapshotError

HEADER = "# Operators of one PyTorch release, made by `bringup snapshot`; do not edit."
_SPLIT = "\naten::"
_RUNTIME = "\n# registered elsewhere, seen in a running torch "
_LISTS = ("tags", "keys", "variants", "autogen")
_TEXTS = ("composite", "structured", "generated", "decomposition", "pre_autograd", "meta")
_FLAGS = ("derivative", "core_decomposition")


def write(snapshot: Snapshot) -> str:
    """The text of a snapshot."""
    lines = [HEADER, f"torch {snapshot.torch}", f"git {snapshot.git}", f"wheel {snapshot.wheel}"]
    lines += [f"source {digest} {path}" for path, digest in sorted(snapshot.sources.items())]
    for _, operator in sorted(snapshot.operators.items()):
        lines += ["aten::" + stanza(operator)]
    if snapshot.runtime_torch:
        lines += [_RUNTIME.strip() + " " + snapshot.runtime_torch]
        lines += [f"aten::{schema}" for _, schema in sorted(snapshot.runtime.items())]
    return "\n".join(lines) + "\n"


def stanza(operator: Operator) -> str:
    """The lines of one overload, without the namespace."""
    lines = [operator.schema]
    for fact in _LISTS:
        value = getattr(operator, fact)
        if value and (fact, value) != ("variants", ("function",)):
            lines.append(f"  {fact} {' '.join(value)}")
    lines += [f"  {fact} {getattr(operator, fact)}" for fact in _TEXTS if getattr(operator, fact)]
    lines += [f"  {fact}" for fact in _FLAGS if getattr(operator, fact)]
    return "\n".join(lines)


class Stanzas(Mapping[str, Operator]):
    """Operators by name, each read from its stanza when it is asked for; `raw` has the stanzas."""

    def __init__(self, stanzas: list[str], where: str) -> None:
        self.raw = {s[: s.index("(")]: s for s in stanzas}
        self._where = where
        self._read: dict[str, Operator] = {}

    def __getitem__(self, name: str) -> Operator:
        if name not in self._read:
            self._read[name] = _read_stanza(self.raw[name], self._where)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


def read(text: str, where: str) -> Snapshot:
    """The snapshot of a text; `where` is its place, for errors. SnapshotError for another text."""
    body, _, runtime = text.rstrip("\n").partition(_RUNTIME)
    head, *stanzas = body.split(_SPLIT)
    header: dict[str, str] = {}
    sources: dict[str, str] = {}
    for line in head.splitlines()[1:]:
        key, _, value = line.partition(" ")
        if key == "source":
            digest, _, path = value.partition(" ")
            sources[path] = digest
        else:
            header[key] = value
    if not text.startswith(HEADER) or set(header) != {"torch", "git", "wheel"}:
        raise SnapshotError(f"{where} is no operator snapshot; `bringup snapshot` makes one")
    runtime_torch, *elsewhere = runtime.split(_SPLIT)
    try:
        operators = Stanzas(stanzas, where)
        others = {Schema.name_of(s): s for s in elsewhere}
    except ValueError as error:
        raise SnapshotError(f"{where} has a stanza without a schema; make it anew with `bringup snapshot`") from error
    return Snapshot(header["torch"], header["git"], header["wheel"], sources, operators, others, runtime_torch)


def _read_stanza(text: str, where: str) -> Operator:
    schema, *lines = text.split("\n")
    facts: dict[str, object] = {}
    for line in lines:
        fact, _, value = line.strip().partition(" ")
        if fact in _LISTS:
            facts[fact] = tuple(value.split())
        elif fact in _TEXTS:
            facts[fact] = value
        elif fact in _FLAGS:
            facts[fact] = True
        else:
            raise SnapshotError(f"{where}: unknown fact {fact!r} of aten::{schema}; was it made by a newer bringup?")
    return Operator(Schema.name_of(schema), schema, **facts)  # type: ignore[arg-type]
