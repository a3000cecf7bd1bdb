"""The answer for a terminal."""

from __future__ import annotations

import io
import sys
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

STYLES = {"native": "green", "decomposed": "cyan", "none": "red"}
_WIDE = 1000
"""Columns where nobody looks: lines are not broken in a file."""
NAMED = 12
"""How many models are named; all of them are in the JSON."""


def render(found: dict[str, Any], *, colour: bool | None = None) -> str:
    """The answer as text.

    Args:
        found: what `bringup_coverage.explain.answer` gives.
        colour: None decides by what standard output is.
    """
    looked_at = sys.stdout.isatty() if colour is None else colour
    console = Console(
        file=io.StringIO(),
        force_terminal=looked_at,
        no_color=not looked_at,
        width=None if looked_at else _WIDE,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(_overloads(found) if "overloads" in found else _whole(found, looked_at))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _overloads(found: dict[str, Any]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for column in ("overload", f"verdict on {found['target']}, {found['dtype']}"):
        table.add_column(column, overflow="fold")
    for row in found["overloads"]:
        table.add_row(row["operator"], _verdict(row["verdict"]))
    return Group(Text(f"{found['operator']} has no default overload; explain one of these:\n"), table)


def _whole(found: dict[str, Any], colour: bool) -> RenderableType:
    parts: list[RenderableType] = [*_head(found)]
    if found["call"] is None:
        return Group(*parts, Text(f"no call in {found['dtype']} to trace: {found['why_no_call']}"))
    parts += [
        Text.assemble("verdict    ", _verdict(found["verdict"])),
        Text(f"call       {found['call']['text']}  ({found['call']['source']}, {_which(found)})"),
        Text.assemble("gradient   ", _verdict(found["gradient"]) if found["gradient"] else _no_gradient(found)),
        _heading("dtypes"),
        _dtypes(found),
        _heading("tree"),
        *_tree(found),
    ]
    if found.get("decompositions"):
        parts += [_heading("decompositions"), _decompositions(found)]
    return Group(*parts, _heading("try it"), Syntax(found["snippet"], "python") if colour else Text(found["snippet"]))


def _head(found: dict[str, Any]) -> list[Text]:
    kind = ", ".join(
        [found["kind"], found["tier"], *([f"composite {found['composite']}"] if found["composite"] else [])]
    )
    lines = [
        Text(found["operator"], style="bold"),
        Text(f"schema     {found['schema']}"),
        Text(f"kind       {kind}{'; tags ' + ', '.join(found['tags']) if found['tags'] else ''}"),
        Text(f"target     {found['target']}: {_tables(found)}"),
    ]
    lines.append(Text(f"models     {_models(found['models'])}"))
    if found["others"]:
        lines.append(Text(f"see also   {', '.join(found['others'])}"))
    return lines


def _tables(found: dict[str, Any]) -> str:
    kernel, entry = found["kernel"], found["entry"]
    has = [f"a kernel ({kernel['engine']}, {'required' if kernel['required'] else 'optional'})"] if kernel else []
    has += [f"a decomposition ({_place(entry)})"] if entry else []
    return " and ".join(has) or "neither kernel nor decomposition"


def _which(found: dict[str, Any]) -> str:
    return f"--call {found['call']['number']} of {len(found['calls'])}"


def _no_gradient(found: dict[str, Any]) -> str:
    return "eager has none" if found["kind"] == "functional" else "not followed through a call that writes"


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _verdict(verdict: dict[str, Any] | None) -> Text:
    if verdict is None:
        return Text("no call", style="dim")
    why = f" ({verdict['reason']})" if verdict["reason"] else ""
    through = f" through {', '.join(verdict['through'])}" if verdict["through"] else ""
    detail = f": {verdict['detail']}" if verdict["detail"] else ""
    return Text.assemble((verdict["status"], STYLES[verdict["status"]]), f"{why}{through}{detail}")


def _dtypes(found: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    for dtype, verdict in found["dtypes"].items():
        same = verdict is not None and verdict["through"] and verdict["through"] == found["verdict"]["through"]
        table.add_row(dtype, Text("decomposed, the same", style=STYLES["decomposed"]) if same else _verdict(verdict))
    return table


def _tree(found: dict[str, Any]) -> list[RenderableType]:
    if found["tree"] is None:
        return [Text(f"the call cannot be traced: {found['why_no_tree']}")]
    parts: list[RenderableType] = []
    if found["bypassed"]:
        parts.append(
            Text("The kernel takes this call, and no compiled graph holds it: it comes apart before.", style="red")
        )
    if not found["tree_whole"]:
        parts.append(Text("Only graphs could be made of this call: its leaves hang from the root."))
    return [*parts, _branch(found["tree"])]


def _branch(node: dict[str, Any]) -> Tree:
    tree = Tree(_label(node), guide_style="dim")
    for step in node["steps"]:
        tree.add(_branch(step))
    return tree


def _label(node: dict[str, Any]) -> Text:
    count = f" ×{node['count']}" if node["count"] > 1 else ""
    match node["way"]:
        case "kernel":
            how, style = f"[{node.get('engine', 'kernel')}] {' '.join(node['dtypes'])}", "green"
        case "missing":
            how, style = f"MISSING ({node['reason']}): {node['detail']}", "bold red"
        case "table":
            how, style = _place(node["place"]), "cyan"
        case "pytorch":
            how, style = "by PyTorch, above the device", "blue"
        case _:
            form = (
                f"through its functional form {node['form']}" if node["form"] else "in operators that write to nothing"
            )
            how, style = f"functionalized, {form}", "blue"
    nothing = " (nothing to do)" if node["way"] == "table" and not node["steps"] else ""
    return Text.assemble(f"{node['operator']}{count}  ", (f"{how}{nothing}", style))


def _decompositions(found: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    for row in found["decompositions"]:
        table.add_row(row["operator"], _place(row), row["function"], f"×{row['count']}" if row["count"] > 1 else "")
    return table


def _place(place: dict[str, Any]) -> str:
    return f"{place['file']}:{place['line']}" if place["file"] else place["function"]


def _models(names: list[str]) -> str:
    """The first models by name and how many more there are."""
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more or "none of the shipped ones uses it"
