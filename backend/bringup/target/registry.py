"""Find a target by name: ``sim``, ``package.module:object`` for a user's own, or a TOML file that lists its kernels."""

from __future__ import annotations

import importlib
import sys
import traceback
from functools import cache
from pathlib import Path

from bringup.decompositions import arrived, default_decompositions
from bringup.errors import BringupError, OptionError
from bringup.target.file import target_from_file
from bringup.target.sim import required_kernels
from bringup.target.sim_optional import optional_kernels
from bringup.target.target import Target
from bringup.torch_internals import OpOverload


def sim() -> Target:
    """The simulated accelerator: at most 128 required kernels, and optional fused ones.

    The same target at every call, until another package registers an operator that bringup has a decomposition for.
    """
    return _sim(arrived())


@cache
def _sim(_: frozenset[OpOverload]) -> Target:
    return Target("sim", (*required_kernels(), *optional_kernels()), default_decompositions())


def target_names() -> tuple[str, ...]:
    """Names of the built-in targets."""
    return ("sim",)


def find_target(spec: str | Target) -> Target:
    """The target that `spec` names; a `Target` is returned as it is.

    Raises:
        OptionError: there is no such target, or the object is not one.
    """
    if isinstance(spec, Target):
        return spec
    if spec == "sim":
        return sim()
    if str(spec).endswith(".toml"):
        return target_from_file(Path(spec), default_decompositions())
    module, colon, name = str(spec).partition(":")
    if not colon or not module or module.startswith("."):
        raise OptionError(
            f"unknown target {spec!r}: built in is 'sim'; your own is 'package.module:object' or a file, 'mychip.toml'"
        )
    here = str(Path.cwd())
    if here not in sys.path:  # a command's own directory is not searched otherwise
        sys.path.append(here)
    try:
        found = getattr(importlib.import_module(module), name)
        if callable(found) and not isinstance(found, Target):
            found = found()
    except BringupError:
        raise
    except (ImportError, AttributeError) as error:
        raise OptionError(f"target {spec!r} cannot be loaded: {error}") from error
    except (Exception, SystemExit) as error:  # the user's own code
        raise OptionError(f"target {spec!r} cannot be loaded: {_told(error)}") from error
    if not isinstance(found, Target):
        raise OptionError(f"target {spec!r} is a {type(found).__name__}, not a bringup.Target")
    return found


def _told(error: BaseException) -> str:
    """What was raised, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else ("", 0)
    if isinstance(error, SyntaxError):
        file, line = error.filename or file, error.lineno or line
        return f"{file}, line {line}: SyntaxError: {error.msg}"
    return f"{file}, line {line} raised {type(error).__name__}: {error}"
