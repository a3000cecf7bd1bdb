"""What a legal program is. Checked after lowering; a failure is a fault of ours, with the instruction named."""

from __future__ import annotations

from bringup.errors import VerificationError
from bringup.ir import Instruction, Program, Region, Role, refs


def verify(program: Program) -> Program:
    """Check a program and return it.

    Raises:
        VerificationError: a value is read before it is defined, defined twice, has no buffer, aliases something
            undefined, or an instruction writes to a constant.
    """
    defined: set[str] = set()
    for name in (*program.inputs, *program.constants):
        _define(program, name, defined, "the inputs")
    for instruction in program.instructions:
        _check(program, instruction, defined)
    for name in refs(program.outputs):
        if name not in defined:
            raise VerificationError(f"program {program.name} returns %{name}, which no instruction defines")
    for region in program.regions:
        verify(region)
    return program


def _check(program: Program, instruction: Instruction, defined: set[str]) -> None:
    where = f"{instruction.operation} (node {instruction.node!r}) in program {program.name}"
    for name in instruction.reads():
        if name not in defined:
            raise VerificationError(f"{where} reads %{name} before it is defined")
    for operand in instruction.operands:
        if isinstance(operand, Region) and operand.index >= len(program.regions):
            raise VerificationError(f"{where} names region {operand.index}; the program has {len(program.regions)}")
    for name in instruction.writes:
        if program.buffers[program.root(name)].role is Role.CONSTANT:
            raise VerificationError(f"{where} writes to the constant %{name}")
    for result in instruction.results:
        if result is not None:
            _define(program, result, defined, where)


def _define(program: Program, name: str, defined: set[str], where: str) -> None:
    if name in defined:
        raise VerificationError(f"%{name} is defined a second time by {where}")
    if name not in program.buffers:
        raise VerificationError(f"%{name}, defined by {where}, has no buffer")
    owner = program.buffers[name].alias_of
    if owner is not None and owner not in defined:
        raise VerificationError(f"%{name}, defined by {where}, is an alias of %{owner}, which is not defined")
    defined.add(name)
