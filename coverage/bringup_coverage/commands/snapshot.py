"""`bringup snapshot`: the operators of one release as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bringup_coverage.files import write_output

if TYPE_CHECKING:
    from bringup_codegen.snapshots import Snapshot

EXAMPLES = """
\b
Examples:
  bringup snapshot --output .
  bringup snapshot --torch 2.15.0 --output native_functions_snapshot
  bringup snapshot --wheel torch-2.8.0-cp311-none-macosx_11_0_arm64.whl --output .
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--torch", "version", metavar="VERSION", help="A release: pip finds its wheel, of which a few MB are fetched."
)
@click.option(
    "--wheel", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A wheel that lies here already."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("."),
    show_default=True,
    help="Folder for VERSION.txt.",
)
def snapshot(version: str | None, wheel: Path | None, output: Path) -> None:
    """Write the operators of a PyTorch release to VERSION.txt: of the installed torch, of --torch VERSION, or of a --wheel.

    Of the installed torch the text is held against what its runtime has registered: schemas, tags, composite flags, Python
    decompositions and meta kernels. A difference is an error that names the operators. Otherwise no torch is needed.

    Exit status: 0 written, 2 usage, no such release, or the text and the runtime differ.
    """
    if version is not None and wheel is not None:
        raise click.UsageError("--torch and --wheel do not go together: a snapshot is of one release")
    from bringup_coverage.releases.plainly import plainly

    with plainly():
        from bringup_codegen.snapshots import write

        made = _make(version, wheel)
        path = output / f"{made.torch}.txt"
        write_output(path, write(made))
    runtime = (
        f"; its {len(made.operators)} operators are the runtime's, {len(made.runtime)} more are registered elsewhere"
    )
    click.echo(
        f"wrote {path}: torch {made.torch}, {len(made.operators)} overloads{runtime if made.runtime_torch else ''}",
        err=True,
    )


def _make(version: str | None, wheel: Path | None) -> Snapshot:
    from bringup_codegen.snapshots.build import build
    from bringup_codegen.snapshots.index import release_sources
    from bringup_codegen.snapshots.sources import installed_sources, wheel_sources

    if wheel is not None:
        return build(wheel_sources(wheel))
    if version is not None:
        return build(release_sources(version, lambda said: click.echo(said, err=True)))
    text = build(installed_sources())
    from bringup_coverage.releases.runtime import with_runtime

    return with_runtime(text)
