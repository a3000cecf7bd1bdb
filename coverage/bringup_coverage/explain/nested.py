"""A call's tree as plain data: equal siblings are one, with a count."""

from __future__ import annotations

from typing import Any

from bringup.target.dtypes import dtype_name
from bringup.target.target import Target
from bringup.target.tree import Step, Way
from bringup.target.verdict import Reason
from bringup_coverage.places import place_of


def nested(step: Step, target: Target, above: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A step and what it is made of; a circle that ends in a missing kernel is drawn once.

    Args:
        step: the step.
        target: whose.
        above: the operators on the way from the root.

    Returns:
        ``operator``, ``call`` (with dtypes and sizes), ``dtypes`` of its tensors, ``way`` (see `bringup.target.tree.Way`),
        ``count`` and ``steps``; ``engine`` of a kernel, ``place`` of a decomposition, ``form`` (the functional operator) of one
        that writes, ``reason`` and ``detail`` of what is missing.
    """
    if step.way is Way.TABLE and step.call.name in above and any(s.way is Way.MISSING for s in step.walk()):
        step = Step(step.call, Way.MISSING, [], (Reason.NO_DECOMPOSITION, "what it decomposes into leads back to it"))
    node: dict[str, Any] = {
        "operator": step.call.name,
        "call": str(step.call),
        "dtypes": sorted({dtype_name(t.dtype) for t in step.call.tensors()}),
        "way": step.way.value,
        "count": 1,
    }
    kernel = target.kernel(step.call.overload)
    if step.way is Way.KERNEL and kernel is not None:
        node["engine"] = kernel.engine.value
    if step.way is Way.TABLE:
        node["place"] = place_of(target.decompositions[step.call.overload]).to_dict()
    if step.way is Way.FUNCTIONALIZED:
        node["form"] = _functional_form(step)
    if step.refusal is not None:
        node["reason"], node["detail"] = step.refusal[0].value, step.refusal[1]
    node["steps"] = _together([nested(s, target, above | {step.call.name}) for s in step.steps])
    return node


def _together(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The nodes, those of equal shape in the place of the first."""
    groups: dict[Any, dict[str, Any]] = {}
    for node in nodes:
        first = groups.setdefault(_shape(node), node)
        if first is not node:
            first["count"] += node["count"]
            first["dtypes"] = sorted({*first["dtypes"], *node["dtypes"]})
    return list(groups.values())


def _shape(node: dict[str, Any]) -> Any:
    inside = tuple((_shape(n), n["count"]) for n in node["steps"])
    return node["operator"], node["way"], node.get("detail"), inside


def _functional_form(step: Step) -> str | None:
    """The operator without writes that stands for one with them: the one of the same family among its steps."""
    family = step.call.overload._schema.name.rstrip("_")
    names = (s.call.name for s in step.steps if s.call.overload._schema.name in (family, f"{family}_functional"))
    return next(names, None)
