"""``python -m bringup_coverage.usage``: what is shipped; with ``--ship``, it is recorded anew."""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Iterator
from typing import Any

import click

from bringup_coverage.progress import progress
from bringup_coverage.usage import models, opinfos, recorded_on
from bringup_coverage.usage.record_models import Recorded, record_models
from bringup_coverage.usage.record_opinfos import record_opinfos, watched
from bringup_coverage.usage.shipped import ship


@click.command(epilog="Example: python -m bringup_coverage.usage --ship --jobs 1")
@click.option(
    "--ship", "remake", is_flag=True, help="Record all architectures and OpInfos anew, and write the shipped files."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Workers at a time."
)
@click.option("--json", "as_json", is_flag=True, help="Print plain data.")
def main(remake: bool, jobs: int, as_json: bool) -> None:
    """Print how many models and OpInfos the shipped usage holds, and how many overloads they call.

    Exit status: 0 done, 1 --ship could not record every model, 2 usage, 3 interrupted.
    """
    if remake:
        try:
            failed = _remake(jobs)
        except KeyboardInterrupt:
            click.echo("interrupted; the shipped files are as they were", err=True)
            raise SystemExit(3) from None
        raise SystemExit(1 if failed else 0)
    figures = _figures()
    click.echo(json.dumps(figures, indent=1) if as_json else "\n".join(f"{k}: {v}" for k, v in figures.items()))


def _figures() -> dict[str, Any]:
    called = {n for usage in models().values() for n in usage}
    return {
        "torch": recorded_on(),
        "models": len(models()),
        "overloads that models call": len(called),
        "calls of all models": sum(sum(usage.values()) for usage in models().values()),
        "opinfos": len(opinfos()),
        "overloads that opinfos call": len({n for names in opinfos().values() for n in names}),
    }


def _remake(jobs: int) -> list[Recorded]:
    """Both files are written when all is recorded; gives the models that were not. Some OpInfos eager refuses on any machine of a kind."""
    import torch

    from bringup_coverage.architectures.catalogue import ARCHITECTURES

    cases = watched()
    with progress("models", total=len(ARCHITECTURES)) as advance:
        found = list(_told(record_models(ARCHITECTURES, jobs=jobs), advance))
    with progress("opinfos", total=len(cases)) as advance:
        watched_ = list(_told(record_opinfos(cases, jobs=jobs), advance))
    release = {"torch": torch.__version__.partition("+")[0]}
    more = {"transformers": importlib.metadata.version("transformers")}
    paths = (
        ship("models", {"models": _usages(found)} | release | more),
        ship("opinfos", {"opinfos": _usages(watched_)} | release),
    )
    for path in paths:
        click.echo(f"{path}: {path.stat().st_size} bytes")
    for row in (*found, *watched_):
        if row.error:
            how = "in part" if row.usage else "not"
            click.echo(f"{row.name}: {how} recorded: {row.error.splitlines()[0]}", err=True)
    return [r for r in found if r.error]


def _told(rows: Iterator[Recorded], advance: Any) -> Iterator[Recorded]:
    for row in rows:
        advance(row.name)
        yield row


def _usages(rows: list[Recorded]) -> dict[str, Any]:
    return {row.name: row.usage for row in rows if row.usage}


if __name__ == "__main__":
    main()
