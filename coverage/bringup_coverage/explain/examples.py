"""The calls of an overload that are explained."""

from __future__ import annotations

import torch

from bringup_coverage.calls import Recipe, recipes, why_none
from bringup_coverage.calls.dtypes import converted, made_for
from bringup_coverage.calls.eager import run
from bringup_coverage.calls.shipped import SHIPPED_DTYPES

DTYPES = ("float32", "bfloat16", "float16", "int64", "bool", "complex64")
"""The dtypes that an answer has a row of."""


def examples(name: str, dtype: str) -> list[Recipe]:
    """Calls of an overload in a dtype that eager accepts: the recorded ones, or in other dtypes the float32 ones converted."""
    try:
        if dtype in SHIPPED_DTYPES:
            return recipes(name, dtype)
        return [made for recipe in recipes(name) if (made := _in_dtype(recipe, dtype)) is not None]
    except KeyError:  # an operator of another namespace, of which no calls are recorded
        return []


def why_no_example(name: str, dtype: str) -> str:
    """One sentence: why there is no call."""
    try:
        return why_none(name, dtype) if dtype in SHIPPED_DTYPES else f"No float32 call of it runs in {dtype}."
    except KeyError:
        return "Calls are recorded of aten's operators only."


def _in_dtype(recipe: Recipe, dtype: str) -> Recipe | None:
    for args, kwargs in converted(recipe.args, recipe.kwargs, getattr(torch, dtype)):
        if made_for(args, kwargs, dtype) and run(recipe.overload, args, kwargs).accepted:
            return Recipe(recipe.overload, args, kwargs, dtype, recipe.source)
    return None
