"""Any torch.compile backend as a black box: its calls are compiled, run, and compared with eager."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bringup.errors import OptionError, nearest
from bringup.torch_internals import find_backend
from bringup_coverage.calls.index import index
from bringup_coverage.catalogue import Catalogue, Operator, catalogue
from bringup_coverage.journal import Journal
from bringup_coverage.pool import run_isolated
from bringup_coverage.progress import progress
from bringup_coverage.scan import WITHOUT_CALLS
from bringup_coverage.scan.black_box_call import examine
from bringup_coverage.scan.cache import code_key, folder
from bringup_coverage.scan.declared import Claim, why_none
from bringup_coverage.scan.examine import Evidence
from bringup_coverage.scan.observed import GraphCompiler
from bringup_coverage.scan.report import report


@dataclass(frozen=True)
class BlackBox:
    """What a scan of a backend gathers.

    Attributes:
        backend: a name that torch.compile knows, or ``package.module:object``.
        dtypes: the first decides the verdict; the others show in the report beside it.
        calls: calls of the first dtype for each overload; the others have one.
        gradient: put a call with gradients to the test too.
        dynamic: put a call with symbolic sizes to the test too.
    """

    backend: str
    dtypes: tuple[str, ...]
    calls: int = 3
    gradient: bool = True
    dynamic: bool = True


def scan_backend(
    settings: BlackBox,
    *,
    jobs: int = 1,
    timeout: float = 300.0,
    fresh: bool = False,
    chosen: Callable[[Operator], bool] = lambda _: True,
) -> dict[str, Any]:
    """The report of a backend; a scan that was cut short goes on where it stopped.

    Args:
        settings: backend and dtypes.
        jobs: workers at a time.
        timeout: seconds that one overload may take.
        fresh: forget what earlier scans found.
        chosen: which operators to list.

    Raises:
        OptionError: there is no such backend.
    """
    compiler = graph_compiler(settings.backend)
    everything = catalogue()
    wanted = Catalogue({n: o for n, o in everything.operators.items() if chosen(o)}, everything.builtins)
    identity = {"torch": torch.__version__, "code": _code_of(compiler), **asdict(settings)}
    identity["dtypes"] = list(settings.dtypes)
    name = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    journal = Journal(folder() / f"backend-{name}.jsonl", identity, fresh=fresh)
    _examine_all(wanted, settings, compiler, journal, jobs, timeout)
    complete = len(wanted.operators) == len(everything.operators)
    made = report(f"backend {settings.backend}", "run", wanted, Untried(journal.rows), journal.rows)
    return made | {"complete": complete}


@dataclass(frozen=True)
class Untried:
    """Nothing is known of an overload that was not tried."""

    rows: dict[str, dict[str, Any]]

    def claim(self, operator: Operator) -> Claim:
        """None, and why it was not tried."""
        if operator.tier in WITHOUT_CALLS:
            return Claim("none", "no-call", f"not tried: {why_none(operator)[1]}")
        row = self.rows.get(operator.name)
        return Claim("none", "no-call", row["no_call"] if row is not None else "not tried")


def graph_compiler(spec: str) -> GraphCompiler:
    """The backend that `spec` names: one that is registered, or ``package.module:object``.

    Raises:
        OptionError: there is none.
    """
    module, colon, name = spec.partition(":")
    if not colon:
        found = find_backend(spec)
        if found is None:
            plain = torch.compiler.list_backends()
            debug = sorted(set(torch.compiler.list_backends(exclude_tags=())) - set(plain))  # pyright: ignore
            raise OptionError(
                f"torch.compile knows no backend {spec!r}{nearest(spec, [*plain, *debug])}; it knows {', '.join(plain)}, "
                f"and to debug with {', '.join(debug)}; write 'package.module:object' for one that is not registered"
            )
        return found
    here = str(Path.cwd())
    if here not in sys.path:  # a command's own directory is not searched otherwise
        sys.path.append(here)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"backend {spec!r} cannot be loaded: {error}") from error
    if not callable(found):
        raise OptionError(f"backend {spec!r} is a {type(found).__name__}, not a function of a graph and its inputs")
    return found


def _code_of(compiler: GraphCompiler) -> str:
    """A digest of what the verdicts depend on: bringup's sources and the package that the backend is in."""
    while isinstance(compiler, partial):
        compiler = compiler.func
    module = getattr(compiler, "__module__", None) or type(compiler).__module__
    package = module.partition(".")[0]
    return code_key("" if package == "torch" else f"{package}:")  # torch's version stands for torch


def _examine_all(
    wanted: Catalogue, settings: BlackBox, compiler: GraphCompiler, journal: Journal, jobs: int, timeout: float
) -> None:
    names = [n for n, o in wanted.operators.items() if o.tier not in WITHOUT_CALLS]
    todo = [n for n in names if n not in journal.rows or journal.rows[n].get("seconds", timeout) < timeout]
    if not todo:
        return
    for dtype in settings.dtypes:  # a worker may have no workers of its own, which looking for calls needs
        index(dtype)
    torch.compile(torch.neg, backend="aot_eager")(torch.ones(2))  # what every worker needs is imported before they fork
    with progress(f"coverage ({settings.backend})", total=len(names), done=len(names) - len(todo)) as advance:
        for row in run_isolated(todo, partial(_row, settings, compiler), _lost, jobs=jobs, timeout=timeout):
            if row["reason"] == "timeout":
                row["seconds"] = timeout  # a scan with more time tries again
            if row["reason"] == "internal-error":
                journal.rows[row["case"]] = row  # in this report; not kept, so that the next scan looks again
            else:
                journal.add(row)
            advance(row["case"])


def _row(settings: BlackBox, compiler: GraphCompiler, name: str) -> dict[str, Any]:
    try:
        return examine(
            name,
            compiler,
            dtypes=settings.dtypes,
            calls=settings.calls,
            gradient=settings.gradient,
            dynamic=settings.dynamic,
        )
    except Exception as error:
        row = _lost(name, "internal-error", "")
        row["problems"] = ["".join(traceback.format_exception(error))]
        return row | {"detail": f"bringup itself failed: {type(error).__name__}: {error}"}


def _lost(name: str, status: str, detail: str) -> dict[str, Any]:
    row = Evidence(name).to_dict() | {"case": name, "status": "none", "reason": status}
    return row | {"detail": f"the examination ended: {detail}"}
