"""What a person is told of a node: the line of their own code, and why the target cannot run it and what to do."""

from __future__ import annotations

import re

from torch import fx

from bringup.errors import UnsupportedOperatorError
from bringup.target.call import Call, describe
from bringup.target.target import Target
from bringup.target.verdict import Reason

_FRAME = re.compile(r'File "(.*?)", line (\d+), in .*\n\s*(.*)')


def source_line(node: fx.Node) -> str:
    """The user's line that a node came from, ``model.py:12: y = x @ w``, or the empty string when nobody knows."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return ""
    file, line, code = frames[-1]
    return f"{file.rsplit('/', 1)[-1]}:{line}: {code.strip()}"


_ADVICE = {
    Reason.CUSTOM_OPERATOR: "give the target a kernel or a decomposition for it, or allow fallback='host'",
    Reason.NO_DECOMPOSITION: "give the target a kernel or a decomposition for it, or allow fallback='host'",
    Reason.DTYPE: "cast the operand, widen the kernel's dtypes, or allow fallback='host'",
    Reason.CONSTRAINT: "change the call so that the constraint holds, or allow fallback='host'",
    Reason.LEAF_MISSING: "give the target a kernel for the leaf, or allow fallback='host'",
    Reason.DATA_DEPENDENT: "take the decision outside the compiled graph, or allow fallback='host'",
    Reason.UNTRACEABLE: "give the operator a fake implementation, or allow fallback='host'",
}


def unsupported(node: fx.Node, call: Call, reason: Reason, detail: str, target: Target) -> UnsupportedOperatorError:
    """The error that says what the target cannot run, where it stands, why, and what to do."""
    source = source_line(node)
    where = f"  at:     {source}\n" if source else ""
    operands = ", ".join(describe(a) for a in call.args)
    return UnsupportedOperatorError(
        f"target {target.name!r} cannot run {call.name}({operands})\n"
        f"  schema: {call.overload._schema}\n"
        f"{where}"
        f"  why:    {detail} ({reason.value})\n"
        f"  to do:  {_ADVICE[reason]}",
        overload=call.name,
        reason=reason.value,
    )
