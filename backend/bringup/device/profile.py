"""Profiles of chips, one TOML file each in `profiles/`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
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
    """

    name: str
    description: str
    memory_bytes: int | None = None
    memory_source: str = ""


def profile_names() -> tuple[str, ...]:
    """Names of the built-in profiles, sorted."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.toml")))


_KEYS: dict[str, type] = {"description": str, "memory_bytes": int, "memory_source": str}


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
        if type(value) is not _KEYS[key] or (isinstance(value, int) and value <= 0):
            wanted = "a whole number of bytes above 0" if _KEYS[key] is int else "a text"
            raise OptionError(f"device profile {str(path)!r}: {key} is {value!r}; it takes {wanted}")
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
