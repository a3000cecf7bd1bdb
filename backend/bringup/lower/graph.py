"""From node to node: which engine and which function run it, or why the host has to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from bringup.errors import UnsupportedOperatorError
from bringup.ir import Fallback, Program, Role
from bringup.lower.builder import ProgramBuilder
from bringup.lower.diagnostics import unsupported
from bringup.lower.implementations import Implementation
from bringup.passes.late_decompositions import UNTRACEABLE
from bringup.target.call import Call, is_check, on_host
from bringup.target.kernel import Engine
from bringup.target.target import Target
from bringup.target.trace import call_of
from bringup.target.verdict import Reason
from bringup.torch_internals import HigherOrderOperator, host_function, is_collective


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
    builder = ProgramBuilder(target.lowerings)
    lowering = _Lowering(gm, target, allow_fallback, frozenset(weights), builder)
    for node in gm.graph.nodes:
        lowering.visit(node)
    return builder.program(name, target.name)


@dataclass(frozen=True)
class _Lowering:
    gm: fx.GraphModule
    target: Target
    allow_fallback: bool
    weights: frozenset[int]
    builder: ProgramBuilder

    def visit(self, node: fx.Node) -> None:
        match node.op:
            case "placeholder":
                weight = len(self.builder.inputs) in self.weights
                self.builder.input(node, Role.WEIGHT if weight else Role.INPUT)
            case "get_attr":
                self.attribute(node)
            case "call_function":
                self.call(node)
            case "output":
                self.builder.output(node)
            case _:
                raise UnsupportedOperatorError(
                    f"node {node.name!r} is a {node.op}; bringup lowers functional ATen graphs, which have none"
                )

    def attribute(self, node: fx.Node) -> None:
        value = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, fx.GraphModule):
            region = lower(value, self.target, name=node.name, allow_fallback=self.allow_fallback)
            self.builder.region(node, region)
        elif isinstance(value, torch.Tensor):
            self.builder.constant(node, value)
        else:
            self.builder.values[node] = value

    def call(self, node: fx.Node) -> None:
        if self.builder.take_part(node):
            return
        call = call_of(node)
        if call is not None:
            self.operator(node, call)
        elif isinstance(node.target, HigherOrderOperator):
            self.builder.emit(node, f"region::{node.target.name()}", Engine.HOST, node.target)
        else:
            name = getattr(node.target, "__name__", node.target)
            self.builder.emit(node, f"scalar::{name}", Engine.HOST, node.target)

    def operator(self, node: fx.Node, call: Call) -> None:
        """An operator runs on the engine of its kernel, on the host where that is its own work, and else falls back."""
        refusal, kernel = self.target.refuses(call), self.target.kernel(call.overload)
        plain = node.target is call.overload
        function: Any = host_function(call.overload) if plain else node.target
        if refusal is None:
            assert kernel is not None
            if plain and kernel.implementation is not None:
                function = Implementation(call.name, kernel.implementation, node.meta.get("val"))
            self.builder.emit(node, call.name, kernel.engine, function)
        elif on_host(call, node.meta.get("val")):
            kind = "check" if is_check(call.overload) else "scalar"
            self.builder.emit(node, f"{kind}::{call.name.partition('::')[2]}", Engine.HOST, function)
        elif is_collective(call.overload):
            self.builder.emit(node, call.name, Engine.LINK, function)
        else:
            untraceable = node.meta.get(UNTRACEABLE)
            self.fall_back(
                node, call, function, *(refusal if untraceable is None else (Reason.UNTRACEABLE, untraceable))
            )

    def fall_back(self, node: fx.Node, call: Call, function: Any, reason: Reason, detail: str) -> None:
        if not self.allow_fallback:
            raise unsupported(node, call, reason, detail, self.target)
        self.builder.emit(node, call.name, Engine.HOST, function, Fallback(reason, detail))
