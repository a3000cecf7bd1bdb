"""A release's wheel on the package index that pip is set up for: only the members that are needed, where the server gives ranges."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from bringup_codegen.snapshots.schema import SnapshotError
from bringup_codegen.snapshots.sources import Sources, sources_in, wheel_sources

_BLOCK = 1 << 18
_PLATFORMS = ("macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_13_0_arm64", "macosx_14_0_arm64")  # the smallest wheels
_PYTHONS = ("3.11", "3.12", "3.13")


def release_sources(version: str, tell: Callable[[str], None] = lambda _: None) -> Sources:
    """The sources of a release by its version; `tell` is given what was fetched. SnapshotError where that fails."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?(\w+)?", version):
        raise SnapshotError(f"{version!r} is no version; expected one as 2.13.0")
    url, digest = _find(version)
    name = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
    try:
        remote = RangeFile(url)
        if remote.size is None:
            return _whole(url, digest, name, tell)
        sources = sources_in(cast(Any, remote), name)
        tell(f"{remote.fetched / 1e6:.1f} MB of {remote.size / 1e6:.0f} MB of {name} fetched")
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise SnapshotError(f"cannot fetch {url}: {error}") from error
    return sources


def _find(version: str) -> tuple[str, str]:
    """Address and SHA-256 of the wheel, as pip finds it; a constraints file does not count, since nothing is installed."""
    said = ""
    for python in _PYTHONS:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
            command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "-q"]
            command += ["--only-binary=:all:", *platforms, "--python-version", python, "--implementation", "cp"]
            command += ["--target", folder, "--report", str(report), f"torch=={version}"]
            environment = {**os.environ, "PIP_CONSTRAINT": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            if done.returncode == 0:
                info = json.loads(report.read_text(encoding="utf-8"))["install"][0]["download_info"]
                return info["url"], info["archive_info"].get("hashes", {}).get("sha256", "")
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR") or "No module" in line]
            said = lines[-1] if lines else done.stderr.strip()[-200:]
    raise SnapshotError(f"pip finds no macOS wheel of torch {version}: {said}")


def _whole(url: str, digest: str, name: str, tell: Callable[[str], None]) -> Sources:
    """The whole wheel, its hash checked, where the server gives no ranges."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / name
        found = sha256()
        with urllib.request.urlopen(url, timeout=60) as response, wheel.open("wb") as file:
            while block := response.read(1 << 20):
                file.write(block)
                found.update(block)
        if digest and found.hexdigest() != digest:
            raise SnapshotError(f"{name} has SHA-256 {found.hexdigest()}, the index says {digest}; try again")
        tell(f"{wheel.stat().st_size / 1e6:.0f} MB of {name} fetched")
        return wheel_sources(wheel)


class RangeFile(io.RawIOBase):
    """A file on a server, read by ranges of whole blocks, each fetched once. `size` is None where the server gives no ranges."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._at = url, 0
        self._blocks: dict[int, bytes] = {}
        self.fetched = 0
        self.size: int | None = None
        if urlsplit(url).scheme in ("http", "https"):
            with self._open(0, 0) as response:
                if response.status == 206:
                    self.size = int(response.headers["Content-Range"].rsplit("/", 1)[-1])

    def _open(self, first: int, last: int) -> Any:
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={first}-{last}"})
        return urllib.request.urlopen(request, timeout=60)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            assert self.size is not None
            first = number * _BLOCK
            with self._open(first, min(first + _BLOCK, self.size) - 1) as response:
                self._blocks[number] = response.read()
            self.fetched += len(self._blocks[number])
        return self._blocks[number]

    def read(self, size: int | None = -1) -> bytes:
        """`size` bytes from here, fewer at the end."""
        assert self.size is not None
        end = self.size if size is None or size < 0 else min(self._at + size, self.size)
        first, last = self._at // _BLOCK, (end - 1) // _BLOCK
        data = b"".join(self._block(n) for n in range(first, last + 1)) if end > self._at else b""
        part = data[self._at - first * _BLOCK : end - first * _BLOCK]
        self._at += len(part)
        return part

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; nothing is fetched."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size or 0}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True
