"""A program that runs a call in eager and on a target, and compares."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import torch

from bringup_coverage.calls import Recipe
from bringup_coverage.calls.eager import run
from bringup_coverage.explain.arguments import source
from bringup_coverage.explain.question import Question
from bringup_coverage.probe import UNINITIALISED

_PROGRAM = """import torch
{imports}
import bringup

operator = torch.ops.{operator}


def arguments():
    torch.manual_seed(0)  # the operator's own random numbers come after these
    args = [{args}]
    kwargs = {{{kwargs}}}
    return args, kwargs


def tensors(*values):
    opened = [tensors(*v) if isinstance(v, (list, tuple)) else [v] for v in values]
    return [t for group in opened for t in group if isinstance(t, torch.Tensor)]


args, kwargs = arguments()
expected = operator(*args, **kwargs)

compiled = torch.compile(lambda *args, **kwargs: operator(*args, **kwargs), backend="bringup", options={options})
again, named = arguments()
with bringup.recording() as seen:
    result = compiled(*again, **named)

{compare}
print(seen)
"""

_EQUAL = """torch.testing.assert_close(
    tensors(result, again, *named.values()), tensors(expected, args, *kwargs.values()), equal_nan=True
)"""
_NUMBERS = "assert result == expected, (result, expected)"
_SHAPES = (
    "assert [t.shape for t in tensors(result)] == [t.shape for t in tensors(expected)]  # its memory is uninitialised"
)


def snippet(recipe: Recipe, question: Question) -> str:
    """The program of a call: with tensors at random where eager takes them and the results are finite, else value by value."""
    args, kwargs, outputs = _written(recipe)
    namespace, _, rest = recipe.overload.partition("::")
    packet, _, overload = rest.partition(".")
    options: dict[str, Any] = {"target": question.target}
    if not question.optional_kernels:
        options["optional_kernels"] = False
    body = args + kwargs
    names = [n for n in ("inf", "nan") if re.search(rf"\b{n}\b", body)]
    numbers = not isinstance(outputs, (torch.Tensor, list, tuple, type(None)))
    blank = packet.removesuffix("_") in UNINITIALISED or packet.startswith(("resize", "empty"))
    return _PROGRAM.format(
        imports=f"from math import {', '.join(names)}\n\n" if names else "",
        operator=f"{namespace}.{packet}.{overload or 'default'}",
        args=args,
        kwargs=kwargs,
        options=json.dumps(options).replace("false", "False"),
        compare=_SHAPES if blank else f"{_NUMBERS}\n{_EQUAL}" if numbers else _EQUAL,
    )


def _written(recipe: Recipe) -> tuple[str, str, Any]:
    """The source of the positional and the keyword arguments, and what eager returns for them."""
    for exact in (False, True):
        args = ", ".join(source(a, exact=exact) for a in recipe.args)
        kwargs = ", ".join(f"{name!r}: {source(v, exact=exact)}" for name, v in recipe.kwargs.items())
        values = {"torch": torch, "inf": math.inf, "nan": math.nan}
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            try:
                made = eval(f"[{args}], {{{kwargs}}}", values)  # our own text of a call
            except Exception:  # a dtype that cannot be drawn
                continue
        trial = run(recipe.overload, tuple(made[0]), made[1])
        if trial.accepted and (exact or trial.sound):
            return args, kwargs, trial.outputs
    return args, kwargs, None
