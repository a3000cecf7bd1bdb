"""A target as a file: a plain list of the overloads that a device runs, in TOML.

name = "mychip"
dtypes = ["float32", "bfloat16", "int64"] # of all tensor arguments, indices too; for every kernel not in dtypes_of
decompositions = "bringup"                # or "pytorch", or "none"

[kernels]
matrix = ["aten::mm", "aten::bmm"]        # by engine: matrix, vector, memory, link, host
vector = ["aten::add.Tensor", "aten::mul.Tensor"]

[dtypes_of]
"aten::add.Tensor" = ["float32", "bfloat16", "int64"]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from bringup.errors import OptionError
from bringup.target.kernel import Engine, Kernel
from bringup.target.target import Target
from bringup.torch_internals import OpOverload, find_overload, pytorch_decompositions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pyright: ignore[reportMissingImports]

_KEYS = {"name", "dtypes", "decompositions", "kernels", "dtypes_of"}


def target_from_file(path: Path, own: Mapping[OpOverload, Any]) -> Target:
    """The target that a TOML file lists.

    Args:
        path: the file.
        own: bringup's decompositions, which a file has unless it asks for others.

    Raises:
        OptionError: no such file, no TOML, an unknown key, engine, dtype or overload; the message names file and key.
    """
    data = read_target_file(path)
    default = _dtypes(path, "dtypes", data.get("dtypes", ["float32"]))
    special = {n: _dtypes(path, f"dtypes_of.{n}", d) for n, d in _table(path, data, "dtypes_of").items()}
    kernels = [
        Kernel(_overload(path, f"kernels.{engine}", name), _engine(path, engine), special.get(name, default))
        for engine, names in _table(path, data, "kernels").items()
        for name in _strings(path, f"kernels.{engine}", names)
    ]
    kernel_names(path, data)
    stray = sorted(set(special) - {k.overload for k in kernels})
    if stray:
        raise OptionError(f"target file {path}: dtypes_of names {stray[0]!r}, which no engine under [kernels] lists")
    return Target(str(data.get("name", path.stem)), tuple(kernels), _decompositions(path, data, own))


def read_target_file(path: Path) -> dict[str, Any]:
    """The keys of a target file, as TOML has them; what they name is not looked at.

    Raises:
        OptionError: no such file, no TOML, an unknown key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise OptionError(f"target file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"target file {path} is not UTF-8, which TOML is: {error}") from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"target file {path} is not TOML: {error}") from error
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise OptionError(f"target file {path}: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    if not isinstance(data.get("name", ""), str):
        raise OptionError(f"target file {path}: name is {data['name']!r}; it must be a text in quotes")
    return data


def kernel_names(path: Path, data: Mapping[str, Any]) -> list[str]:
    """The overloads that a target file lists, of whatever release.

    Raises:
        OptionError: it lists none, or something else than names.
    """
    engines = _table(path, data, "kernels").items()
    names = [name for engine, listed in engines for name in _strings(path, f"kernels.{engine}", listed)]
    if not names:
        raise OptionError(f'target file {path} lists no kernels; write them as [kernels] with matrix = ["aten::mm"]')
    return names


def _table(path: Path, data: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise OptionError(f"target file {path}: {key} is {found!r}; it must be a table, [{key}]")
    return found


def _strings(path: Path, key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise OptionError(f"target file {path}: {key} is {value!r}; it must be a list of names in quotes")
    return value


def _dtypes(path: Path, key: str, value: Any) -> frozenset[torch.dtype]:
    names = _strings(path, key, value)
    if not names:
        raise OptionError(f"target file {path}: {key} is empty; a kernel takes at least one dtype, such as 'float32'")
    for name in names:
        if not isinstance(getattr(torch, name, None), torch.dtype):
            raise OptionError(
                f"target file {path}: {key} names {name!r}, which is no dtype of torch, such as 'float32'"
            )
    return frozenset(getattr(torch, name) for name in names)


def _engine(path: Path, name: str) -> Engine:
    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(e.value for e in Engine)
        raise OptionError(f"target file {path}: kernels.{name} is no engine; known are {known}") from None


def _overload(path: Path, key: str, name: str) -> str:
    if find_overload(name) is None:
        raise OptionError(
            f"target file {path}: {key} names {name!r}, which torch {torch.__version__} does not have; "
            f"an overload is written aten::add.Tensor"
        )
    return name


def _decompositions(path: Path, data: Mapping[str, Any], own: Mapping[OpOverload, Any]) -> Mapping[OpOverload, Any]:
    chosen = data.get("decompositions", "bringup")
    if chosen == "bringup":
        return own
    if chosen == "pytorch":
        return pytorch_decompositions()
    if chosen == "none":
        return {}
    raise OptionError(f"target file {path}: decompositions is {chosen!r}; known are 'bringup', 'pytorch', 'none'")
