"""The evidence of a scan: calls traced and run, what goes wrong in them, and what is kept of it."""

from __future__ import annotations

import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import bringup_coverage.scan as scan_module
from bringup import Engine, Kernel, Target
from bringup_coverage.accuracy import mismatch
from bringup_coverage.scan import Settings, scan
from bringup_coverage.scan.examine import examine
from bringup_coverage.scan.forms import functional_form
from bringup_coverage.scan.report import REASONS

aten = torch.ops.aten
F32 = frozenset({torch.float32})
RUN = Settings(level="run", dtypes=("float32", "int64"), optional_kernels=False)
EXAMINE = importlib.import_module("bringup_coverage.scan.examine")

WRONG = """
import torch
from bringup import find_target
aten = torch.ops.aten
sim = find_target("sim").with_options(optional_kernels=False)
target = sim.with_decompositions({aten.hardswish.default: lambda x: aten.mul.Tensor(x, x)})
"""
"""A target whose decomposition of one operator computes something else."""

SMALL = Target("small", (Kernel("aten::mul.Tensor", Engine.VECTOR, F32), Kernel("aten::mm", Engine.MATRIX, F32)))


def fail(_: Any) -> Any:
    """A fault of bringup's own."""
    raise RuntimeError("made for a test")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scans are kept in a folder of the test."""
    monkeypatch.setenv("BRINGUP_CACHE_DIR", str(tmp_path))
    return tmp_path


def one(name: str, **settings: Any) -> dict[str, Any]:
    """The entry of one overload in a scan of nothing else."""
    report = scan(Settings(**settings), chosen=lambda o: o.name == name)
    (entry,) = report["overloads"]
    return entry


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("aten::mm", "native"),
        ("aten::silu", "decomposed"),
        ("aten::addcmul_", "decomposed"),
        ("aten::mm.out", "decomposed"),
        ("aten::transpose.int", "decomposed"),
        ("aten::matmul", "decomposed"),
        ("aten::_foreach_add.Scalar", "decomposed"),
    ],
)
def test_running_gives_evidence(name: str, status: str) -> None:
    """Functional, in-place, out=, view, composite and list forms equal eager, in every dtype tried."""
    found = examine(name, RUN)
    assert found.problems == []
    assert found.ran == sum(len(s) for s in found.statuses.values()) > 0
    assert set(found.statuses["float32"]) == {status}
    assert found.worst_error is not None
    assert found.worst_error < 1e-5
    assert found.dynamic is (True if functional_form(name) is None else None)  # which the functional form is judged for


def test_forms_share_what_is_found_of_symbolic_sizes(cache: Path) -> None:
    """An out= overload is made functional before symbols matter; one without a functional form is judged itself."""
    names = {"aten::add.Tensor", "aten::add.out", "aten::full.out"}
    settings = Settings(dtypes=("float32",), gradient=False)
    found = {e["name"]: e for e in scan(settings, chosen=lambda o: o.name in names)["overloads"]}
    assert functional_form("aten::add.out") == "aten::add.Tensor"
    assert functional_form("aten::full.out") is None
    assert all(e["evidence"]["dynamic"] is True for e in found.values())


def test_gradients_are_traced_and_run() -> None:
    """A differentiable call has its gradients looked at, an integer one has none."""
    for level in ("traced", "run"):
        settings = Settings(level=level, dtypes=("float32",))
        assert examine("aten::silu", settings).gradient is True
        assert examine("aten::bitwise_and.Tensor", settings).gradient is None


def test_a_missing_backward_kernel_shows_in_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forward has a kernel; its backward needs a product that the target lacks."""
    target = Target("half", (Kernel("aten::sin", Engine.VECTOR, F32),))
    monkeypatch.setattr(EXAMINE, "find_target", lambda _: target)
    found = examine("aten::sin", Settings(level="traced", dtypes=("float32",), dynamic=False))
    assert set(found.statuses["float32"]) == {"native"}
    assert found.gradient is False
    assert any("aten::cos" in p for p in found.problems)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """All leaves without a kernel, not only the first."""
    table = {aten.hardswish.default: lambda x: aten.mul.Tensor(aten.sin(x), aten.cos(x))}
    monkeypatch.setattr(EXAMINE, "find_target", lambda _: SMALL.with_decompositions(table))
    found = examine("aten::hardswish", Settings(level="traced", dtypes=("float32",), gradient=False, dynamic=False))
    assert set(found.statuses["float32"]) == {"none"}
    assert found.reason == "leaf-missing"
    assert found.missing == ["aten::cos", "aten::sin"]


def test_a_wrong_result_is_no_coverage(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decomposition that computes something else is found by running it, not by tracing it."""
    (cache / "wrong_target.py").write_text(WRONG)
    monkeypatch.syspath_prepend(str(cache))
    settings: dict[str, Any] = {"target": "wrong_target:target", "dtypes": ("float32",), "optional_kernels": False}
    traced = one("aten::hardswish", level="traced", **settings)
    assert traced["status"] == "decomposed"
    run = one("aten::hardswish", level="run", **settings)
    assert (run["status"], run["reason"]) == ("none", "wrong-result")
    assert run["reason"] in REASONS


def test_our_own_fault_is_no_verdict(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said with its traceback, and looked at again the next time."""
    monkeypatch.setattr(scan_module, "examine", lambda *_: fail(None))
    entry = one("aten::mm", level="traced", dtypes=("float32",))
    assert (entry["status"], entry["reason"]) == ("none", "internal-error")
    assert "made for a test" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setenv("BRINGUP_CACHE_DIR", str(cache))
    assert one("aten::mm", level="traced", dtypes=("float32",))["status"] == "native"


def test_a_scan_goes_on_where_it_stopped(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the journal is not examined again."""
    settings: dict[str, Any] = {"level": "traced", "dtypes": ("float32",)}
    first = one("aten::mm", **settings)
    (journal,) = cache.glob("scan-*.jsonl")
    assert [json.loads(line).get("case") for line in journal.read_text().splitlines()] == [None, "aten::mm"]
    monkeypatch.setattr(scan_module, "examine", lambda *_: fail(None))
    assert one("aten::mm", **settings) == first


def test_rows_say_who_decomposes_and_who_calls(cache: Path) -> None:
    """An entry with its line, PyTorch's composites, functionalization, nothing for a kernel; and the models behind a row."""
    names = {"aten::linear", "aten::mm", "aten::silu_", "aten::upsample_bicubic2d", "aten::glu"}
    found = scan(Settings(level="declared"), chosen=lambda o: o.name in names)["overloads"]
    said = {e["name"]: e["decomposition"] for e in found}
    assert said["aten::mm"] is None
    assert said["aten::linear"] == {"where": "", "name": "PyTorch's own, above the device"}
    assert said["aten::silu_"] == {"where": "", "name": "functionalization into aten::silu"}
    for name in ("aten::upsample_bicubic2d", "aten::glu"):
        file, _, line = said[name]["where"].rpartition(":")
        assert file.startswith(("torch/", "bringup/")) and int(line) > 0
    models = {e["name"]: e["models"] for e in found}
    assert "bert" in models["aten::mm"]
    assert models["aten::upsample_bicubic2d"] == ["yolos"]


def test_a_call_that_pytorch_cannot_trace_decides_only_alone() -> None:
    """Shifting booleans is refused by PyTorch's own fake kernel; the other call of the operator has a verdict."""
    found = examine("aten::__lshift__.Scalar", Settings(dtypes=("float32",), gradient=False, dynamic=False))
    assert found.statuses == {"float32": ["decomposed"]}
    assert found.reason is None
    assert any("cannot trace another call" in p for p in found.problems)
    alone = examine("aten::polygamma_", Settings(dtypes=("float32",), gradient=False, dynamic=False))
    assert (alone.statuses, alone.reason) == ({"float32": ["none"]}, "untraceable")


@pytest.mark.parametrize("name", ["aten::cummax", "aten::bucketize.Tensor", "aten::searchsorted.Tensor"])
def test_sizes_that_are_plain_numbers_replace_their_nodes(name: str) -> None:
    """A decomposition that enters a graph with symbolic sizes may come out as a number."""
    found = examine(name, Settings(level="run", dtypes=("float32",), gradient=False))
    assert (found.problems, found.dynamic) == ([], True)


def test_what_capture_changes_is_not_the_targets_fault() -> None:
    """PyTorch's functionalization loses the first form's result, and gives the second another than eager's own out= form."""
    for name in ("aten::linalg_matrix_rank.out", "aten::binary_cross_entropy.out"):
        found = examine(name, Settings(level="run", dtypes=("float32",)))
        assert found.problems
        assert all("untraceable: PyTorch's capture alone, run by eager, is wrong as well" in p for p in found.problems)


def test_results_without_values_are_compared_without_them() -> None:
    """Meta tensors equal meta tensors of the same dtype and sizes, and nothing else."""
    meta = torch.empty(2, device="meta")
    assert mismatch(meta, meta) is None
    assert "shape" in str(mismatch(meta, torch.empty(3, device="meta")))
    assert "device" in str(mismatch(torch.ones(2), meta))
    found = examine("aten::to.dtype_layout", Settings(level="run", dtypes=("float32",)))
    assert (found.problems, found.ran) == ([], 3)


def test_what_took_too_long_is_given_more_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan with a longer timeout looks again at what the shorter one cut off, and at nothing else."""
    settings, chosen = Settings(dtypes=("float32",), gradient=False, dynamic=False), lambda o: o.name == "aten::mm"
    with monkeypatch.context() as slow:
        slow.setattr(scan_module, "examine", lambda *_: time.sleep(60))
        (entry,) = scan(settings, chosen=chosen, timeout=1.0)["overloads"]
        assert (entry["status"], entry["reason"]) == ("none", "timeout")
    assert scan(settings, chosen=chosen, timeout=1.0)["overloads"] == [entry]
    assert scan(settings, chosen=chosen, timeout=60.0)["overloads"][0]["status"] == "native"
