"""The golden text of a program: one fact per line, the user's source line beside each instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bringup.ir import Instruction, Program, Role


def program_text(program: Program) -> str:
    """The whole program as text; two programs that do the same print the same."""
    return "\n".join(_lines(program, "")) + "\n"


def _lines(program: Program, indent: str) -> Iterator[str]:
    yield f"{indent}program {program.name} for {program.target}"
    inner = indent + "  "
    for name in (*program.inputs, *program.constants):
        buffer = program.buffers[name]
        role = buffer.role.value if buffer.role is not Role.SCALAR else "input"
        yield f"{inner}{role} {buffer}"
    for index, region in enumerate(program.regions):
        yield f"{inner}@region{index} ="
        yield from _lines(region, inner + "  ")
    for instruction in program.instructions:
        yield inner + _instruction(program, instruction)
    yield f"{inner}return {', '.join(map(_operand, program.outputs))}".rstrip()


def _instruction(program: Program, instruction: Instruction) -> str:
    defined = ", ".join("_" if r is None else str(program.buffers[r]) for r in instruction.results)
    operands = [_operand(o) for o in instruction.operands]
    operands += [f"{k}={_operand(v)}" for k, v in instruction.keywords]
    text = f"{defined} = " if defined else ""
    text += f"{instruction.engine.value} {instruction.operation}({', '.join(operands)})"
    if instruction.writes:
        text += f" writes {', '.join('%' + w for w in instruction.writes)}"
    if instruction.random:
        text += " random"
    if instruction.fallback:
        text += f" fallback({instruction.fallback.reason.value})"
    return f"{text}  # {instruction.source}" if instruction.source else text


def _operand(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_operand, value))}]"
    return str(value) if not isinstance(value, str) else repr(value)
