"""Whether a changed schema still takes every call that the old one took: the rule of `FunctionSchema.is_backward_compatible_with`.

The rule is PyTorch's (torch/csrc/api and aten/src/ATen/core/function_schema.cpp); the tests hold this copy against the runtime's answers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bringup_codegen.snapshots.schema import Argument, Schema

_INTEGERS = re.compile(r"\b(SymInt|DeviceIndex|Layout|MemoryFormat|ScalarType)\b")
_ALIAS = re.compile(r"\([^)]*\)")
_FIXED = re.compile(r"\[(\d+)\]")


def backward_compatible(old: Schema, new: Schema) -> bool:
    """Whether code written for `old` runs with `new`.

    Arguments keep their place, name, default and alias annotation and may only become more general; new ones come last among those
    that are not out arguments and have defaults; returns keep their number and may only become more special.
    """
    old_inputs, old_outs = _split(old.arguments)
    new_inputs, new_outs = _split(new.arguments)
    if old.name != new.name or len(old.returns) != len(new.returns) or len(new_inputs) < len(old_inputs):
        return False
    if len(new_outs) < len(old_outs) or any(a.default is None for a in new_inputs[len(old_inputs) :]):
        return False
    returns = zip(map(_as_argument, new.returns), map(_as_argument, old.returns), strict=True)
    pairs = [*zip(old_inputs, new_inputs), *zip(old_outs, new_outs), *returns]  # noqa: B905 - new ones may be more
    return all(_takes(before, after) for before, after in pairs)


def _split(arguments: tuple[Argument, ...]) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Inputs, and the out arguments from the first one on."""
    first = next((i for i, a in enumerate(arguments) if a.written and a.keyword_only), len(arguments))
    return arguments[:first], arguments[first:]


def _as_argument(returned: str) -> Argument:
    type_, _, name = returned.partition(" ")
    return Argument(type_, name)


def _takes(old: Argument, new: Argument) -> bool:
    if new.name != old.name or (new.keyword_only and not old.keyword_only):
        return False
    if _ALIAS.findall(old.type) != _ALIAS.findall(new.type) or _FIXED.findall(old.type) != _FIXED.findall(new.type):
        return False
    if old.default is not None and _plain(old).default != _plain(new).default:
        return False
    return _subtype(_plain(old).type, _plain(new).type)


def _plain(argument: Argument) -> Argument:
    """Types and defaults as the runtime keeps them: enumerations and symbols are integers, list sizes stand apart."""
    type_ = _INTEGERS.sub("int", _FIXED.sub("[]", _ALIAS.sub("", argument.type)))
    default = argument.default
    size = _FIXED.search(argument.type)
    if default is not None and size and not default.startswith("[") and default != "None":
        default = "[" + ",".join([default] * int(size[1])) + "]"
    return replace(argument, type=type_, default=default and default.replace(" ", ""))


def _subtype(special: str, general: str) -> bool:
    if special == general:
        return True
    if general.endswith("?"):
        return _subtype(special.removesuffix("?"), general[:-1])
    return general == "Scalar" and special in ("int", "float")
