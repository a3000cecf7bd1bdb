"""Questions that passes ask of a graph node, answered from schemas."""

from __future__ import annotations

import operator

from torch import fx

from bringup.torch_internals import HigherOrderOperator, OpOverload, draws_random_numbers, written_arguments


def is_pure(node: fx.Node) -> bool:
    """Whether a node only computes its result: no writes, no random numbers, no nested region, and there is a result.

    An operator without a result is called for its effect: an assertion, a check that raises.
    """
    if node.op != "call_function":
        return False
    if isinstance(node.target, HigherOrderOperator):
        return False
    if not isinstance(node.target, OpOverload):
        return True
    schema = node.target._schema
    return bool(schema.returns) and not written_arguments(node.target) and not draws_random_numbers(node.target)


def is_aten(node: fx.Node) -> bool:
    """Whether a node calls a PyTorch operator, not a custom one, whose schema may be trusted."""
    return node.op == "call_function" and isinstance(node.target, OpOverload) and node.target.namespace == "aten"


def may_alias_argument(node: fx.Node) -> bool:
    """Whether a node's result may share memory with an argument: by the schema for PyTorch's operators, else assumed."""
    if node.target is operator.getitem or not is_aten(node):
        return True
    return any(r.alias_info is not None for r in node.target._schema.returns)  # type: ignore[union-attr]


def escapes(node: fx.Node) -> bool:
    """Whether the node's memory is seen from outside: it, or a view of it, is an output, is written to, or enters a region."""
    todo, seen = [node], set()
    while todo:
        current = todo.pop()
        for user in current.users:
            if user in seen:
                continue
            seen.add(user)
            if user.op == "output":
                return True
            if not is_pure(user) and not (is_aten(user) and not written_arguments(user.target)):  # type: ignore[arg-type]
                return True
            if may_alias_argument(user):
                todo.append(user)
    return False


def base_inputs(node: fx.Node) -> set[fx.Node]:
    """The nodes whose memory this one's result may be a view of, itself included."""
    todo, seen = [node], {node}
    while todo:
        current = todo.pop()
        if current.op == "call_function" and may_alias_argument(current):
            new = [a for a in current.all_input_nodes if a not in seen]
            seen.update(new)
            todo.extend(new)
    return seen


def written_nodes(graph: fx.Graph) -> set[fx.Node]:
    """Every node whose memory some instruction of the graph writes to, views' bases included."""
    written: set[fx.Node] = set()
    for node in graph.nodes:
        if node.op == "call_function" and isinstance(node.target, OpOverload) and written_arguments(node.target):
            for argument in node.all_input_nodes:
                written |= base_inputs(argument)
    return written
