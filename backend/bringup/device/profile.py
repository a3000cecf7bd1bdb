"""Profiles of chips, one TOML file each in `profiles/`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bringup.errors import OptionError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pyright: ignore[reportMissingImports]

_FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True)
class Profile:
    """A chip.

    Attributes:
        name: how options call it.
        description: vendor and model.
        memory_bytes: capacity of its main memory; None when no limit is enforced.
        memory_source: where that figure comes from.
        measured_as: what measurements call it.
        cores: streaming multiprocessors, Tensix cores.
        memory_bandwidth: of the main memory, bytes/s.
        link_bandwidth: to the other devices of its node, one way, bytes/s; of one link where it has a mesh of links.
        speed_source: where these and the peaks come from, and what other sources say.
        peak_flops: dense FLOP/s of the matrix engine by dtype.
    """

    name: str
    description: str
    memory_bytes: int | None = None
    memory_source: str = ""
    measured_as: tuple[str, ...] = ()
    cores: int = 0
    memory_bandwidth: float = 0.0
    link_bandwidth: float = 0.0
    speed_source: str = ""
    peak_flops: Mapping[str, float] = field(default_factory=dict, hash=False)


def profile_names() -> tuple[str, ...]:
    """Names of the built-in profiles, sorted."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.toml")))


_KEYS: dict[str, type] = {
    "description": str,
    "memory_bytes": int,
    "memory_source": str,
    "measured_as": list,
    "cores": int,
    "memory_bandwidth": float,
    "link_bandwidth": float,
    "speed_source": str,
    "peak_flops": dict,
}
_WANTED: dict[type, str] = {
    str: "a text",
    list: "a list of texts",
    float: "a number above 0, with a point or an exponent",
    dict: "a table of dtypes with numbers above 0, with a point or an exponent",
}


def _fits(key: str, value: object) -> bool:
    """Whether a value is of its key's type."""
    if type(value) is not _KEYS[key]:
        return False
    if isinstance(value, list):
        return all(isinstance(v, str) for v in value)
    if isinstance(value, dict):
        return all(isinstance(v, float) and v > 0 for v in value.values())
    return not isinstance(value, (int, float)) or value > 0


@cache
def _load(path: Path) -> Profile:
    """The profile in a file, called what the file is called.

    Raises:
        OptionError: the file cannot be read or is no profile.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # no such file, no UTF-8, no TOML
        raise OptionError(f"device profile {str(path)!r} cannot be read: {error}") from error
    for key, value in data.items():
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise OptionError(
                f"device profile {str(path)!r}: unknown key {key!r}{nearest(key, _KEYS)}; known are {known}"
            )
        if not _fits(key, value):
            whole = "a whole number of bytes above 0" if key == "memory_bytes" else "a whole number above 0"
            wanted = _WANTED.get(_KEYS[key], whole)
            raise OptionError(f"device profile {str(path)!r}: {key} is {value!r}; it takes {wanted}")
    data["measured_as"] = tuple(data.get("measured_as", ()))
    return Profile(name=path.stem, **{"description": path.stem, **data})


def find_profile(spec: str | Profile) -> Profile:
    """The profile called `spec`, or the one in the TOML file that `spec` is the path of.

    Raises:
        OptionError: there is no such profile, or the file is not one.
    """
    if isinstance(spec, Profile):
        return spec
    if not isinstance(spec, (str, Path)):
        raise OptionError(f"option 'device' is {spec!r}; it takes a profile's name or a TOML file")
    if str(spec).endswith(".toml"):
        return _load(Path(spec))
    names = profile_names()
    if spec not in names:
        raise OptionError(f"unknown device {str(spec)!r}{nearest(str(spec), names)} (known: {', '.join(names)})")
    return _load(_FOLDER / f"{spec}.toml")


@cache
def profile_measured_as(name: str) -> Profile | None:
    """The built-in profile of the device that measurements call `name`; None where there is none."""
    return next((p for p in map(find_profile, profile_names()) if name in p.measured_as), None)
