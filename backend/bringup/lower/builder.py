"""A program in the making: names, buffers and aliases of what the nodes of a graph compute, and the instructions."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from bringup.errors import TargetError
from bringup.ir import Buffer, Fallback, Instruction, Program, Ref, Region, Role
from bringup.lower.buffers import buffer, flat
from bringup.lower.diagnostics import source_line
from bringup.target.kernel import Engine
from bringup.torch_internals import OpOverload, draws_random_numbers, written_arguments


@dataclass
class ProgramBuilder:
    """Collects the parts of one program, node after node.

    Attributes:
        lowerings: the target's rewrites of single instructions, by operation.
        values: what an operand becomes that is the node.
        parts: buffers of the nodes with several results, None for those that nothing reads.
    """

    lowerings: Mapping[str, Any]
    inputs: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    regions: list[Program] = field(default_factory=list)
    single: bool = False
    values: dict[fx.Node, Any] = field(default_factory=dict)
    parts: dict[fx.Node, tuple[str | None, ...]] = field(default_factory=dict)

    def program(self, name: str, target: str) -> Program:
        return Program(
            name,
            target,
            tuple(self.inputs),
            tuple(self.instructions),
            tuple(self.outputs),
            self.buffers,
            self.constants,
            tuple(self.regions),
            self.single,
        )

    def input(self, node: fx.Node, role: Role) -> None:
        self.inputs.append(node.name)
        self.define(node, node.meta.get("val"), role)

    def output(self, node: fx.Node) -> None:
        result = self.operand(node.args[0])
        self.single = not isinstance(result, (list, tuple))
        self.outputs.extend((result,) if self.single else result)

    def constant(self, node: fx.Node, value: torch.Tensor) -> None:
        self.constants[node.name] = value
        self.define(node, value, Role.CONSTANT)

    def region(self, node: fx.Node, program: Program) -> None:
        self.regions.append(program)
        self.values[node] = Region(len(self.regions) - 1)

    def take_part(self, node: fx.Node) -> bool:
        """Whether a node takes one of a multiple result's buffers; its value is then that buffer."""
        if node.target is not operator.getitem or node.args[0] not in self.parts:
            return False
        part = self.parts[node.args[0]][node.args[1]]  # type: ignore[index]
        self.values[node] = None if part is None else Ref(part)
        return True

    def emit(
        self, node: fx.Node, operation: str, engine: Engine, function: Any, fallback: Fallback | None = None
    ) -> None:
        value = node.meta.get("val")
        multiple = isinstance(value, (list, tuple))
        results = self.split(node, value) if multiple else self.one(node, value)
        overload = node.target if isinstance(node.target, OpOverload) else None
        instruction = Instruction(
            operation,
            engine,
            function,
            tuple(self.operand(a) for a in node.args),
            tuple((k, self.operand(v)) for k, v in node.kwargs.items()),
            results,
            multiple,
            self.written(node, overload),
            overload is not None and draws_random_numbers(overload),
            node.name,
            source_line(node),
            fallback,
        )
        rule = self.lowerings.get(operation)
        lowered = instruction if rule is None else rule(instruction)
        if not isinstance(lowered, Instruction):
            raise TargetError(f"the lowering of {operation} gave {lowered!r}; it must give a bringup.Instruction")
        self.instructions.append(lowered)

    def one(self, node: fx.Node, value: Any) -> tuple[str | None, ...]:
        if value is None and not node.users:
            return ()
        self.define(node, value, Role.INTERMEDIATE, self.owner(node))
        return (node.name,)

    def split(self, node: fx.Node, value: Any) -> tuple[str | None, ...]:
        """One buffer per part of a multiple result that something reads."""
        used = [u.args[1] for u in node.users if u.target is operator.getitem]
        whole = any(u.target is not operator.getitem for u in node.users)
        names: list[str | None] = []
        for index, part in enumerate(value):
            name = f"{node.name}_{index}" if whole or index in used else None
            names.append(name)
            if name is not None:
                self.buffers[name] = buffer(name, part, Role.INTERMEDIATE, self.owner(node))
        self.parts[node] = tuple(names)
        self.values[node] = [None if n is None else Ref(n) for n in names]
        return tuple(names)

    def define(self, node: fx.Node, value: Any, role: Role, alias_of: str | None = None) -> None:
        self.buffers[node.name] = buffer(node.name, value, role, alias_of)
        self.values[node] = Ref(node.name)

    def owner(self, node: fx.Node) -> str | None:
        """The buffer that a view node's result shares memory with, by the schema's alias annotations."""
        if not isinstance(node.target, OpOverload):
            return None
        schema = node.target._schema
        if not any(r.alias_info is not None for r in schema.returns):
            return None
        for declared, argument in zip(schema.arguments, node.args, strict=False):
            if declared.alias_info is not None and isinstance(argument, fx.Node):
                value = self.values.get(argument)
                return value.name if isinstance(value, Ref) else None
        return None

    def written(self, node: fx.Node, overload: OpOverload | None) -> tuple[str, ...]:
        """The buffers that the schema says the node's operator writes to."""
        if overload is None:
            return ()
        names = written_arguments(overload)
        if not names:
            return ()
        written: list[str] = []
        for index, declared in enumerate(overload._schema.arguments):
            if declared.name in names:
                value = node.args[index] if index < len(node.args) else node.kwargs.get(declared.name)
                written += [ref.name for ref in flat(self.operand(value)) if isinstance(ref, Ref)]
        return tuple(written)

    def operand(self, value: Any) -> Any:
        """An argument of a node with every node in it replaced by its value."""
        if isinstance(value, fx.Node):
            return self.values[value]
        if isinstance(value, (list, tuple)):
            return (
                [self.operand(v) for v in value] if isinstance(value, list) else tuple(self.operand(v) for v in value)
            )
        if isinstance(value, dict):
            return {k: self.operand(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self.operand(value.start), self.operand(value.stop), self.operand(value.step))
        return value
