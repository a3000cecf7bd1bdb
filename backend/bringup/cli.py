"""The `bringup` command. Subcommands come from the entry-point group ``bringup.commands`` and are loaded when one is called."""

from __future__ import annotations

import errno
import os
import sys
from importlib.metadata import EntryPoint, entry_points

import click

from bringup.errors import BringupError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Commands(click.Group):
    """A group whose subcommands are entry points: listing them imports nothing heavy."""

    @staticmethod
    def _found() -> dict[str, EntryPoint]:
        return {e.name: e for e in entry_points(group="bringup.commands")}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._found())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._found().get(cmd_name)
        return entry.load() if entry is not None else None


@click.group(cls=_Commands, epilog="Example: bringup kernels --format json")
@click.version_option(package_name="bringup")
def commands() -> None:
    """A bring-up kit for PyTorch accelerators."""


def main() -> None:
    """Run the command line; an error that bringup raises on purpose is one sentence and exit status 2."""
    try:
        commands()
    except BringupError as error:
        click.echo(f"bringup: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered is lost, and not said twice
        click.echo(f"bringup: the output cannot be written: {error.strerror}", err=True)
        sys.exit(2)
