"""FX graph to program, by the target's table. Every instruction keeps its FX node's name and the user's source line."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from bringup.errors import UnsupportedOperatorError
from bringup.ir import Buffer, Fallback, Instruction, Program, Ref, Region, Role
from bringup.passes.late_decompositions import UNTRACEABLE
from bringup.target.call import Call, describe
from bringup.target.kernel import Engine
from bringup.target.target import Target
from bringup.target.verdict import Reason
from bringup.torch_internals import (
    HigherOrderOperator,
    OpOverload,
    draws_random_numbers,
    host_function,
    is_collective,
    written_arguments,
)


def lower(
    gm: fx.GraphModule,
    target: Target,
    *,
    name: str,
    weights: Iterable[int] = (),
    allow_fallback: bool = True,
) -> Program:
    """Lower a functional ATen graph to a program for `target`.

    Args:
        gm: the graph; its nodes carry fake values in ``meta["val"]``.
        target: what the program is for.
        name: the program's name.
        weights: positions of the inputs that are parameters or buffers of a module.
        allow_fallback: whether an operator that the target cannot run may run on the host.

    Raises:
        UnsupportedOperatorError: an operator cannot run on the target, and `allow_fallback` is False.
    """
    state = _Lowering(gm, target, allow_fallback, frozenset(weights))
    for node in gm.graph.nodes:
        state.visit(node)
    return Program(
        name,
        target.name,
        tuple(state.inputs),
        tuple(state.instructions),
        tuple(state.outputs),
        state.buffers,
        state.constants,
        tuple(state.regions),
        state.single,
    )


@dataclass
class _Lowering:
    gm: fx.GraphModule
    target: Target
    allow_fallback: bool
    weights: frozenset[int]
    inputs: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    regions: list[Program] = field(default_factory=list)
    single: bool = False
    values: dict[fx.Node, Any] = field(default_factory=dict)
    parts: dict[fx.Node, tuple[str | None, ...]] = field(default_factory=dict)

    def visit(self, node: fx.Node) -> None:
        match node.op:
            case "placeholder":
                role = Role.WEIGHT if len(self.inputs) in self.weights else Role.INPUT
                self.inputs.append(node.name)
                self.define(node, node.meta.get("val"), role)
            case "get_attr":
                self.attribute(node)
            case "call_function":
                self.call(node)
            case "output":
                result = self.operand(node.args[0])
                self.single = not isinstance(result, (list, tuple))
                self.outputs.extend((result,) if self.single else result)
            case _:
                raise UnsupportedOperatorError(
                    f"node {node.name!r} is a {node.op}; bringup lowers functional ATen graphs, which have none"
                )

    def attribute(self, node: fx.Node) -> None:
        value = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, fx.GraphModule):
            self.regions.append(lower(value, self.target, name=node.name, allow_fallback=self.allow_fallback))
            self.values[node] = Region(len(self.regions) - 1)
            return
        if isinstance(value, torch.Tensor):
            self.constants[node.name] = value
            self.define(node, value, Role.CONSTANT)
            return
        self.values[node] = value

    def call(self, node: fx.Node) -> None:
        if node.target is operator.getitem and node.args[0] in self.parts:
            part = self.parts[node.args[0]][node.args[1]]  # type: ignore[index]
            self.values[node] = None if part is None else Ref(part)
            return
        if isinstance(node.target, OpOverload):
            self.overload(node, node.target)
        elif isinstance(node.target, HigherOrderOperator):
            self.higher_order(node, node.target)
        else:
            self.emit(node, f"scalar::{getattr(node.target, '__name__', node.target)}", Engine.HOST, node.target)

    def higher_order(self, node: fx.Node, operator_: HigherOrderOperator) -> None:
        """Control flow runs its regions; a wrapper around a custom operator without a kernel is a host fallback."""
        wrapped = next((a for a in node.args if isinstance(a, OpOverload)), None)
        if wrapped is None:
            self.emit(node, f"region::{operator_.name()}", Engine.HOST, operator_)
            return
        args, kwargs = map_arg((node.args[1:], node.kwargs), _meta)
        call = Call(wrapped, tuple(args), dict(kwargs))
        refusal, kernel = self.target.refuses(call), self.target.kernel(wrapped)
        if refusal is None and kernel is not None:
            self.emit(node, call.name, kernel.engine, operator_)
        elif refusal is not None:
            self.fall_back(node, call, operator_, *refusal)

    def fall_back(self, node: fx.Node, call: Call, function: Any, reason: Reason, detail: str) -> None:
        if not self.allow_fallback:
            raise _unsupported(node, call, reason, detail, self.target)
        self.emit(node, call.name, Engine.HOST, function, Fallback(reason, detail))

    def overload(self, node: fx.Node, overload: OpOverload) -> None:
        args, kwargs = map_arg((node.args, node.kwargs), _meta)
        call = Call(overload, tuple(args), dict(kwargs))
        if _scalar_only(node, call) or _reads_shape_only(overload):
            self.emit(node, f"scalar::{call.name.partition('::')[2]}", Engine.HOST, host_function(overload))
            return
        refusal = self.target.refuses(call)
        if is_collective(overload):
            self.emit(node, call.name, Engine.LINK, host_function(overload))
        elif refusal is None:
            kernel = self.target.kernel(overload)
            assert kernel is not None
            self.emit(node, call.name, kernel.engine, kernel.implementation or host_function(overload))
        else:
            untraceable = node.meta.get(UNTRACEABLE)
            why = refusal if untraceable is None else (Reason.UNTRACEABLE, untraceable)
            self.fall_back(node, call, host_function(overload), *why)

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
        rule = self.target.lowerings.get(operation)
        self.instructions.append(instruction if rule is None else rule(instruction))

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
                self.buffers[name] = _buffer(name, part, Role.INTERMEDIATE, self.owner(node))
        self.parts[node] = tuple(names)
        self.values[node] = [None if n is None else Ref(n) for n in names]
        return tuple(names)

    def define(self, node: fx.Node, value: Any, role: Role, alias_of: str | None = None) -> None:
        self.buffers[node.name] = _buffer(node.name, value, role, alias_of)
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
        if overload is None:
            return ()
        names = written_arguments(overload)
        if not names:
            return ()
        written: list[str] = []
        for index, declared in enumerate(overload._schema.arguments):
            if declared.name in names:
                value = node.args[index] if index < len(node.args) else node.kwargs.get(declared.name)
                written += [ref.name for ref in _flat(self.operand(value)) if isinstance(ref, Ref)]
        return tuple(written)

    def operand(self, value: Any) -> Any:
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


def _scalar_only(node: fx.Node, call: Call) -> bool:
    """Whether no tensor goes in or comes out: arithmetic and assertions on sizes."""
    results = _flat(node.meta.get("val"))
    return next(call.tensors(), None) is None and not any(isinstance(r, torch.Tensor) for r in results)


def _reads_shape_only(overload: OpOverload) -> bool:
    return overload._schema.name in (
        "aten::sym_size",
        "aten::sym_stride",
        "aten::sym_numel",
        "aten::sym_storage_offset",
    )


def _meta(node: fx.Node) -> Any:
    return node.meta.get("val")


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _buffer(name: str, value: Any, role: Role, alias_of: str | None) -> Buffer:
    if not isinstance(value, torch.Tensor):
        return Buffer(name, Role.SCALAR)
    strided = value.layout is torch.strided
    strides = tuple(map(_size, value.stride())) if strided else ()
    return Buffer(name, role, value.dtype, tuple(map(_size, value.shape)), strides, alias_of, value.is_conj())


def _size(size: Any) -> int | str:
    return size if type(size) is int else str(size)


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
    Reason.UNTRACEABLE: "give the operator a fake implementation, or allow fallback='host'",
}


def _unsupported(node: fx.Node, call: Call, reason: Reason, detail: str, target: Target) -> UnsupportedOperatorError:
    where = source_line(node)
    operands = ", ".join(describe(a) for a in call.args)
    return UnsupportedOperatorError(
        f"target {target.name!r} cannot run {call.name}({operands})\n"
        f"  schema: {call.overload._schema}\n"
        f"  at:     {where or 'an unknown line'}\n"
        f"  why:    {detail} ({reason.value})\n"
        f"  to do:  {_ADVICE[reason]}",
        overload=call.name,
        reason=reason.value,
    )
