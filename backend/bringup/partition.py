"""Cut a graph into the pieces that a target runs and what stays on the host: few pieces, as large as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from bringup.errors import OptionError
from bringup.target import Call, Reason, Target
from bringup.torch_internals import HigherOrderOperator, OpOverload, concrete


@dataclass(frozen=True)
class Piece:
    """A part of the graph that the target runs in one go.

    Attributes:
        name: the submodule that holds it.
        operators: how many operators it has.
        bytes_in: bytes of the tensors that cross from the host into it (a symbolic size counts as its example value).
        bytes_out: bytes of the tensors that cross back.
    """

    name: str
    operators: int
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True)
class HostOperator:
    """An operator that stays on the host, and why."""

    node: str
    overload: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Partitioning:
    """A partitioned graph.

    Attributes:
        graph: calls one submodule for each piece, and the host's operators between them.
        pieces: in the order they run.
        host: what stays on the host, in order.
    """

    graph: fx.GraphModule
    pieces: tuple[Piece, ...]
    host: tuple[HostOperator, ...]

    @property
    def crossing_bytes(self) -> int:
        """Bytes that cross between host and target in one run."""
        return sum(p.bytes_in + p.bytes_out for p in self.pieces)


class _Supported(OperatorSupportBase):
    def __init__(self, target: Target) -> None:
        self.target = target

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: fx.Node) -> bool:
        return node.op == "call_function" and _refusal(self.target, node) is None


def partition_graph(gm: fx.GraphModule, target: Target) -> Partitioning:
    """Partition a functional ATen graph by what `target` runs natively.

    Args:
        gm: nodes carry fake values in ``meta["val"]``; it is changed in place.
        target: its verdict on each call decides.

    Raises:
        OptionError: the graph is not one of ATen operators with fake values, as AOTAutograd and ``make_fx`` make them.
    """
    _require_aten(gm.graph)
    host = tuple(_host_operators(gm.graph, target))
    proposer = CapabilityBasedPartitioner(gm, _Supported(target), allows_single_node_partition=True)
    fused = proposer.fuse_partitions(proposer.propose_partitions(), prefix="device_")
    pieces = tuple(
        _piece(fused, n) for n in fused.graph.nodes if n.op == "call_module" and str(n.target).startswith("device_")
    )
    return Partitioning(fused, pieces, host)


def _require_aten(graph: fx.Graph) -> None:
    for node in graph.nodes:
        python = node.op in ("call_method", "call_module") or (
            node.op == "call_function"
            and not isinstance(node.target, (OpOverload, HigherOrderOperator))
            and any("val" not in n.meta for n in node.all_input_nodes)
        )
        if python or (node.op == "call_function" and isinstance(node.target, OpOverload) and "val" not in node.meta):
            raise OptionError(
                f"partition_graph takes a functional ATen graph with fake values in node.meta['val'], as AOTAutograd and "
                f"make_fx(..., tracing_mode='fake') make them; node {node.name!r} ({node.op} of {node.target}) is not of one"
            )


def _refusal(target: Target, node: fx.Node) -> tuple[Reason, str] | None:
    if not isinstance(node.target, OpOverload):
        return None
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: n.meta.get("val"))
    return target.refuses(Call(node.target, tuple(args), dict(kwargs)))


def _host_operators(graph: fx.Graph, target: Target) -> Iterable[HostOperator]:
    for node in graph.nodes:
        why = _refusal(target, node) if node.op == "call_function" else None
        if why is not None:
            yield HostOperator(node.name, node.target._name, *why)


def _piece(gm: fx.GraphModule, node: fx.Node) -> Piece:
    inner: Any = getattr(gm, str(node.target))
    operators = sum(n.op == "call_function" for n in inner.graph.nodes)
    output = next(n for n in inner.graph.nodes if n.op == "output")
    came_in = sum(_bytes(n.meta.get("val")) for n in node.all_input_nodes)
    went_out = sum(_bytes(n.meta.get("val")) for n in output.all_input_nodes)
    return Piece(str(node.target), operators, came_in, went_out)


def _bytes(value: Any) -> int:
    if not isinstance(value, torch.Tensor):
        return 0
    elements = 1
    for size in value.shape:
        elements *= concrete(size)
    return elements * value.element_size()
