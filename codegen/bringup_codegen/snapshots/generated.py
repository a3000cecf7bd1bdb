"""Schemas of the variants that PyTorch's build generates from an entry's `autogen` list (torchgen/native_function_generation.py)."""

from __future__ import annotations

import re
from dataclasses import replace
from string import ascii_lowercase

from bringup_codegen.snapshots.schema import Argument, Schema

_ALIAS = re.compile(r"\([^)]*\)")
_TENSOR_OPTIONS = ("dtype", "layout", "device", "pin_memory")


def generated_schema(base: Schema, name: str) -> Schema:
    """The schema of the overload `name` that is generated from `base`: its out= form if the name says so, else its functional form."""
    overload = name.partition(".")[2]
    if overload == "out" or overload.endswith("_out"):
        return _out(base, name)
    return _functional(base, name)


def _plain(argument: Argument) -> Argument:
    return replace(argument, type=_ALIAS.sub("", argument.type))


def _functional(base: Schema, name: str) -> Schema:
    """Nothing is written: what the base writes comes after what it returns, unless it returns it."""
    returned = [_ALIAS.sub("", r) for r in base.returns]
    given_back = {m for r in base.returns for m in _ALIAS.findall(r)}
    written = [a for a in base.arguments if a.written and not given_back & set(_ALIAS.findall(a.type))]
    returned += [f"{_plain(a).type} {a.name}_out" for a in written]
    arguments = tuple(_plain(a) for a in base.arguments if not (a.written and base.kind == "out"))
    return Schema(name, arguments, tuple(returned), len(returned) == 1)


def _out(base: Schema, name: str) -> Schema:
    """Each tensor that is returned is written to an argument instead; for an in-place operator that is `self`."""
    if base.name.partition(".")[0].endswith("_"):  # what torchgen calls in-place, whatever else is written
        written = base.arguments[0]
        out = replace(written, name="out", default=None, keyword_only=True)
        return Schema(name, (_plain(written), *base.arguments[1:], out), base.returns, base.bare_return)
    used = {c for a in base.arguments for m in _ALIAS.findall(a.type) for c in m}
    letters = [c for c in ascii_lowercase if c not in used]
    outs, others = [], []
    for i, returned in enumerate(base.returns):
        type_ = returned.partition(" ")[0]
        if type_.startswith("Tensor"):
            number = "" if len(base.returns) == 1 else str(i)
            outs.append(Argument(type_.replace("Tensor", f"Tensor({letters[i]}!)"), f"out{number}", keyword_only=True))
        else:
            others.append(returned)
    only_tensors = all(r.partition(" ")[0] == "Tensor" for r in base.returns)
    result = tuple(o.type for o in outs) if only_tensors else tuple(others)
    return Schema(name, (*_without_options(base), *outs), result, len(result) == 1)


def _without_options(base: Schema) -> tuple[Argument, ...]:
    """The arguments without those that say which tensor to make: an out= form is given it."""
    names = [a.name for a in base.arguments]
    start = next((i for i in range(len(names)) if tuple(names[i : i + 4]) == _TENSOR_OPTIONS), None)
    if start is None or base.kind != "functional" or not base.arguments[start].keyword_only:
        return base.arguments
    return base.arguments[:start] + base.arguments[start + 4 :]
