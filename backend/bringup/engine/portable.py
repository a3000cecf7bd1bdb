"""The portable executor: a program becomes one flat Python function that calls the kernels in order.

It needs nothing but torch. Values are local variables, freed after their last use; everything else that an instruction
needs (functions, dtypes, constants, regions) is bound once when the function is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bringup.ir import Instruction, Program, Ref, Region, refs

Boxed = Callable[[list[Any]], tuple[Any, ...]]


def build(program: Program) -> Boxed:
    """A function that takes a list of the program's inputs, empties it, and returns the outputs."""
    return _Writer(program).function()


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.globals: dict[str, Any] = {}
        self.bound: dict[int, str] = {}
        self.local: dict[str, str] = {}
        self.regions = [_unboxed(build(region)) for region in program.regions]

    def function(self) -> Boxed:
        lines = list(self.lines())
        source = "def run(inputs):\n" + "".join(f"    {line}\n" for line in lines)
        exec(compile(source, f"<bringup program {self.program.name}>", "exec"), self.globals)
        return self.globals["run"]  # type: ignore[no-any-return]

    def lines(self) -> list[str]:
        program = self.program
        lines = []
        names = [self.variable(name) for name in program.inputs]
        if names:
            lines.append(f"{', '.join(names)}, = inputs")
        lines.append("inputs.clear()")
        for name, tensor in program.constants.items():
            self.globals[self.variable(name)] = tensor
        last = self.last_uses()
        for index, instruction in enumerate(program.instructions):
            lines.append(self.statement(instruction))
            if dead := last.get(index):
                lines.append(f"del {', '.join(dead)}")
        outputs = [self.operand(o) for o in program.outputs]
        lines.append(f"return {outputs[0]}" if program.single else f"return ({''.join(o + ', ' for o in outputs)})")
        return lines

    def last_uses(self) -> dict[int, list[str]]:
        """The variables that die after each instruction."""
        keep = set(refs(self.program.outputs)) | set(self.program.constants)
        last: dict[str, int] = {}
        for index, instruction in enumerate(self.program.instructions):
            for name in (*instruction.reads(), *(r for r in instruction.results if r)):
                last[name] = index
        dead: dict[int, list[str]] = {}
        for name, index in last.items():
            if name not in keep:
                dead.setdefault(index, []).append(self.variable(name))
        return dead

    def statement(self, instruction: Instruction) -> str:
        function = self.bind(instruction.function)
        operands = [self.operand(o) for o in instruction.operands]
        operands += [f"{k}={self.operand(v)}" for k, v in instruction.keywords]
        call = f"{function}({', '.join(operands)})"
        if not instruction.results:
            return call
        targets = ["_" if r is None else self.variable(r) for r in instruction.results]
        return f"{', '.join(targets)}{',' if instruction.multiple else ''} = {call}"

    def variable(self, name: str) -> str:
        if name not in self.local:
            self.local[name] = f"v{len(self.local)}"
        return self.local[name]

    def operand(self, value: Any) -> str:
        match value:
            case Ref(name):
                return self.variable(name)
            case Region(index):
                return self.bind(self.regions[index])
            case None | bool() | int() | str():
                return repr(value) if type(value) in (type(None), bool, int, str) else self.bind(value)
            case float() if math.isfinite(value):
                return repr(value)
            case list():
                return f"[{', '.join(map(self.operand, value))}]"
            case tuple() if type(value) is tuple:
                return f"({''.join(self.operand(v) + ', ' for v in value)})"
            case dict():
                return "{" + ", ".join(f"{k!r}: {self.operand(v)}" for k, v in value.items()) + "}"
            case slice():
                return f"slice({self.operand(value.start)}, {self.operand(value.stop)}, {self.operand(value.step)})"
            case _:
                return self.bind(value)

    def bind(self, value: Any) -> str:
        if id(value) not in self.bound:
            self.bound[id(value)] = f"k{len(self.bound)}"
            self.globals[self.bound[id(value)]] = value
        return self.bound[id(value)]


def _unboxed(run: Boxed) -> Callable[..., Any]:
    def region(*args: Any) -> Any:
        return run(list(args))

    return region
