"""Where snapshots come from: wheel files, wheels on a server with and without ranges, and what is refused."""

from __future__ import annotations

import http.server
import threading
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from bringup_codegen.snapshots import SnapshotError, index, load
from bringup_codegen.snapshots.build import build
from bringup_codegen.snapshots.index import release_sources
from bringup_codegen.snapshots.sources import wheel_sources

NATIVE = """
- func: twice(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: twice
  autogen: twice.out
  tags: [pointwise, core]

- func: whole(Tensor self) -> Tensor
  variants: function, method
"""
MEMBERS = {
    "torchgen/packaged/ATen/native/native_functions.yaml": NATIVE,
    "torchgen/packaged/autograd/derivatives.yaml": "- name: twice(Tensor self) -> Tensor\n  self: grad * 2\n",
    "torchgen/native_function_generation.py": "is_core = True\n",
    "torch/version.py": "__version__ = '9.1.2+cpu'\ngit_version = 'abc'\n",
    "torch/_decomp/__init__.py": "def core_aten_decompositions():\n    return get_decompositions([aten.twice])\n",
    "torch/_decomp/decompositions.py": "@register_decomposition(aten.twice)\ndef twice(x):\n    return x + x\n",
    "torch/_meta_registrations.py": "@register_meta(aten.whole.default)\ndef meta_whole(x):\n    return x\n",
    "torch/lib/libtorch.dylib": "x" * 2_000_000,
}
NAME = "torch-9.1.2-cp311-none-macosx_11_0_arm64.whl"


def make_wheel(folder: Path, *, spoiled: str = "", without: str = "") -> Path:
    """A small wheel whose RECORD is right, or wrong for one member."""
    wheel = folder / NAME
    record = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in MEMBERS.items():
            if name == without:
                continue
            digest = urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(text)}")
            archive.writestr(name, text + ("# spoiled\n" if name == spoiled else ""))
        archive.writestr("torch-9.1.2.dist-info/RECORD", "\n".join([*record, "torch-9.1.2.dist-info/RECORD,,"]))
    return wheel


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str, type]]:
    """A folder served over HTTP, its address, and the handler, whose `ranges` says whether it gives ranges."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        ranges, sent = True, 0

        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path))  # type: ignore[arg-type]

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            if not (self.ranges and asked):
                return super().do_GET()
            data = (tmp_path / NAME).read_bytes()
            first, last = (int(n) for n in asked.removeprefix("bytes=").split("-"))
            part = data[first : last + 1]
            type(self).sent += len(part)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)
            return None

        def log_message(self, *args: object) -> None:
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tmp_path, f"http://127.0.0.1:{server.server_address[1]}/{NAME}", Handler
    server.shutdown()
    server.server_close()


def test_a_wheel_file_becomes_a_snapshot(tmp_path: Path) -> None:
    """Facts from each of its sources."""
    snapshot = build(wheel_sources(make_wheel(tmp_path)))
    assert (snapshot.torch, snapshot.git, snapshot.wheel) == ("9.1.2", "abc", NAME)
    twice, out, whole = (snapshot.operators[n] for n in ("twice", "twice.out", "whole"))
    assert (twice.keys, twice.tags, twice.derivative, twice.core_decomposition) == (
        ("CPU", "CUDA"),
        ("core", "pointwise"),
        True,
        True,
    )
    assert twice.decomposition == "torch._decomp.decompositions.twice"
    assert (out.schema, out.generated, out.composite) == (
        "twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        "twice",
        "explicit",
    )
    assert out.decomposition == twice.decomposition  # a packet is all of its overloads
    assert (whole.composite, whole.meta, whole.variants) == (
        "implicit",
        "torch._meta_registrations.meta_whole",
        ("function", "method"),
    )


def test_only_the_members_that_count_are_fetched(
    served: tuple[Path, str, type], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ranges; the two megabytes of library in between are not."""
    folder, url, handler = served
    wheel = make_wheel(folder)
    monkeypatch.setattr(index, "_find", lambda version: (url, ""))
    monkeypatch.setattr(index, "_BLOCK", 4096)
    told: list[str] = []
    assert release_sources("9.1.2", told.append).files == wheel_sources(wheel).files
    assert handler.sent < 50_000
    assert told == ["0.0 MB of 2 MB of " + NAME + " fetched"]


def test_a_server_without_ranges_gives_the_whole_wheel(
    served: tuple[Path, str, type], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash is checked."""
    folder, url, handler = served
    handler.ranges = False
    wheel = make_wheel(folder)
    digest = sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(index, "_find", lambda version: (url, digest))
    assert release_sources("9.1.2").files == wheel_sources(wheel).files
    monkeypatch.setattr(index, "_find", lambda version: (url, "0" * 64))
    with pytest.raises(SnapshotError, match="the index says 0000"):
        release_sources("9.1.2")


def test_a_member_that_is_not_what_record_says_is_refused(tmp_path: Path) -> None:
    """Whole wheels and ranges go the same way."""
    wheel = make_wheel(tmp_path, spoiled="torch/_meta_registrations.py")
    with pytest.raises(SnapshotError, match=r"torch/_meta_registrations.py .* is not what the wheel's RECORD says"):
        wheel_sources(wheel)


def test_what_is_no_torch_wheel_is_refused(tmp_path: Path) -> None:
    """A sentence each."""
    missing = "torchgen/packaged/ATen/native/native_functions.yaml"
    with pytest.raises(SnapshotError, match=f"has no {missing}"):
        wheel_sources(make_wheel(tmp_path, without=missing))
    (tmp_path / "x.whl").write_text("no zip")
    with pytest.raises(SnapshotError, match="is no wheel"):
        wheel_sources(tmp_path / "x.whl")
    with pytest.raises(SnapshotError, match="is no version"):
        release_sources("2.8; rm")


def test_an_address_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address."""
    monkeypatch.setattr(index, "_find", lambda version: ("http://127.0.0.1:9/torch.whl", ""))
    with pytest.raises(SnapshotError, match=r"cannot fetch http://127\.0\.0\.1:9/torch\.whl"):
        release_sources("2.8.0")


def test_versions_that_ship_and_that_do_not(tmp_path: Path) -> None:
    """A minor version is its last patch; a file is a path."""
    assert load("2.8").torch == "2.8.0"
    assert load("2.13.0+cpu").torch == "2.13.0"
    with pytest.raises(SnapshotError, match=r"no snapshot of torch '3\.0' ships"):
        load("3.0")
    with pytest.raises(SnapshotError, match="there is no snapshot file"):
        load(str(tmp_path / "none.txt"))
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(SnapshotError, match="is no operator snapshot"):
        load(str(tmp_path / "x.txt"))
