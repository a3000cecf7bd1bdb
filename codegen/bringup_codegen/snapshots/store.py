"""The snapshots that ship with the package, and files of the user's own."""

from __future__ import annotations

import re
from pathlib import Path

from bringup_codegen.snapshots.operator import Snapshot
from bringup_codegen.snapshots.schema import SnapshotError
from bringup_codegen.snapshots.text import read

_HERE = Path(__file__).resolve()
FOLDERS = (
    _HERE.parents[1] / "native_functions_snapshot",
    _HERE.parents[3] / "native_functions_snapshot",
)  # wheel, checkout


def _folder() -> Path:
    return next((f for f in FOLDERS if f.is_dir()), FOLDERS[0])


def order(version: str) -> tuple[tuple[int, ...], str]:
    """A key that sorts versions."""
    numbers = re.match(r"[\d.]*", version)
    return tuple(int(n) for n in (numbers[0] if numbers else "").split(".") if n), version


def releases() -> tuple[str, ...]:
    """The versions that ship, oldest first."""
    return tuple(sorted((p.stem for p in _folder().glob("*.txt")), key=order))


def load(version: str) -> Snapshot:
    """A release's snapshot: a version that ships, its minor version for the last patch (2.8), or the path of a file.

    Raises SnapshotError for anything else, with what there is.
    """
    path = Path(version)
    if path.suffix == ".txt" or len(path.parts) > 1:
        return _load(path)
    shipped = releases()
    plain = version.partition("+")[0]
    for found in (plain, *(r for r in reversed(shipped) if r.startswith(plain + "."))):
        if found in shipped:
            return _load(_folder() / f"{found}.txt")
    raise SnapshotError(
        f"no snapshot of torch {version!r} ships; there are {', '.join(shipped)}. "
        f"`bringup snapshot --torch {plain} --output .` makes one; give the path of its file"
    )


def _load(path: Path) -> Snapshot:
    try:
        return read(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise SnapshotError(f"there is no snapshot file {path}; `bringup snapshot` makes one") from None
    except OSError as error:
        raise SnapshotError(f"cannot read the snapshot {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SnapshotError(f"{path} is no operator snapshot: it is not UTF-8 text") from None
