"""The options of ``torch.compile(..., backend="bringup", options={...})``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bringup.device.profile import Profile, find_profile
from bringup.errors import OptionError, nearest
from bringup.target import Target, find_target


@dataclass(frozen=True)
class Options:
    """Options of one compilation, parsed.

    Attributes:
        target: what the graph is lowered for.
        device: the chip whose memory the program must fit into.
        fallback: ``"host"`` runs what the target cannot on the host and reports it; ``"error"`` refuses.
        optional_kernels: whether the target's optional fused kernels are in use.
        dump: a folder (or, with a suffix, a file) that the programs are written to.
    """

    target: Target
    device: Profile
    fallback: str = "host"
    optional_kernels: bool = True
    dump: Path | None = None


def parse_options(options: Mapping[str, Any] | None) -> Options:
    """Check the user's options.

    Raises:
        OptionError: an unknown option, or a value that the option does not take.
    """
    given = dict(options or {})
    known = [f.name for f in fields(Options)]
    for name in given:
        if name not in known:
            raise OptionError(f"unknown option {name!r}{nearest(str(name), known)} (known: {', '.join(known)})")
    fallback = given.get("fallback", "host")
    if fallback not in ("host", "error"):
        raise OptionError(f"option 'fallback' is {fallback!r}; it takes 'host' or 'error'")
    optional = given.get("optional_kernels", True)
    if not isinstance(optional, bool):
        raise OptionError(f"option 'optional_kernels' is {optional!r}; it takes True or False")
    dump = given.get("dump")
    if dump is not None and (not isinstance(dump, (str, Path)) or not str(dump)):
        raise OptionError(f"option 'dump' is {dump!r}; it takes the path of a folder or a file")
    target = find_target(given.get("target", "sim")).with_options(optional_kernels=optional)
    return Options(target, find_profile(given.get("device", "host")), fallback, optional, Path(dump) if dump else None)
