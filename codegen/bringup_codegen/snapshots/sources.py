"""Where a release's sources are read from: an installed torch, a wheel file, a wheel on an index."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from bringup_codegen.snapshots.schema import SnapshotError

NATIVE = "torchgen/packaged/ATen/native/native_functions.yaml"
DERIVATIVES = "torchgen/packaged/autograd/derivatives.yaml"
DECOMP = "torch/_decomp/__init__.py"
VERSION = "torch/version.py"
GENERATION = "torchgen/native_function_generation.py"
_WANTED = re.compile(
    rf"{NATIVE}|{DERIVATIVES}|{VERSION}|{GENERATION}|torch/_decomp/\w+\.py|torch/_refs/[\w/]+\.py|torch/_meta_registrations\.py"
)


@dataclass(frozen=True)
class Sources:
    """The text of each file that a snapshot is made from, by its path in the wheel; `origin` says which wheel."""

    origin: str
    files: Mapping[str, str]

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file, but of `torch/version.py`, which names the build."""
        return {name: sha256(text.encode()).hexdigest() for name, text in sorted(self.files.items()) if name != VERSION}


def _collect(origin: str, names: list[str], read: Callable[[str], bytes]) -> Sources:
    wanted = sorted(n for n in names if _WANTED.fullmatch(n))
    missing = [n for n in (NATIVE, VERSION, GENERATION, DECOMP) if n not in wanted]
    if missing:
        raise SnapshotError(f"{origin} has no {missing[0]}; snapshots are made from a PyTorch wheel of 2.0 or later")
    return Sources(origin, {n: read(n).decode("utf-8") for n in wanted})


def installed_sources() -> Sources:
    """Those of the torch that this Python would import; torch is not imported. SnapshotError where there is none."""
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise SnapshotError(
            "no torch is installed here; install one, or name a release with --torch or a file with --wheel"
        )
    root = Path(next(iter(spec.submodule_search_locations))).parent
    folders = ("torchgen/packaged", "torch/_decomp", "torch/_refs")
    found = [p for folder in folders for p in (root / folder).rglob("*") if p.is_file()]
    found += [root / VERSION, root / GENERATION, root / "torch/_meta_registrations.py"]
    names = [p.relative_to(root).as_posix() for p in found]
    return _collect("installed", names, lambda name: (root / name).read_bytes())


def wheel_sources(wheel: Path) -> Sources:
    """Those of a wheel file. SnapshotError for a file that is none."""
    try:
        with wheel.open("rb") as stream:
            return sources_in(stream, wheel.name)
    except OSError as error:
        raise SnapshotError(f"cannot read the wheel {wheel}: {error.strerror}") from error


def sources_in(stream: IO[bytes], name: str) -> Sources:
    """Those of an open wheel, each held against the wheel's own list of hashes."""
    try:
        with zipfile.ZipFile(stream) as archive:
            hashes = _recorded(archive)

            def read(member: str) -> bytes:
                data = archive.read(member)
                if hashes.get(member) != _record_hash(data):
                    raise SnapshotError(f"{member} of {name} is not what the wheel's RECORD says; get the wheel anew")
                return data

            return _collect(name, archive.namelist(), read)
    except zipfile.BadZipFile as error:
        raise SnapshotError(f"{name} is no wheel: {error}; give a file torch-….whl") from error


def _recorded(archive: zipfile.ZipFile) -> dict[str, str]:
    """SHA-256 of each member as RECORD has it."""
    record = next((n for n in archive.namelist() if n.endswith(".dist-info/RECORD")), None)
    if record is None:
        raise SnapshotError("a wheel without RECORD; give a file torch-….whl")
    rows = (line.rsplit(",", 2) for line in archive.read(record).decode("utf-8").splitlines())
    return {row[0].strip('"'): row[1] for row in rows if len(row) == 3}


def _record_hash(data: bytes) -> str:
    from base64 import urlsafe_b64encode

    return "sha256=" + urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
