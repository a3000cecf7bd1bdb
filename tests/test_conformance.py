"""The conformance sweep: its parts, a fast slice of it, and its last full result."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from bringup.errors import OptionError
from bringup_coverage.accuracy import mismatch
from bringup_coverage.commands.conformance import conformance
from bringup_coverage.golden import differences, golden, read_golden, refuse_others, totals_of
from bringup_coverage.journal import Journal
from bringup_coverage.pool import run_isolated
from bringup_coverage.probe import probe
from bringup_coverage.samples import Case, cases

DTYPES = ("float32", "bfloat16", "int64", "bool", "complex64")
GOLDEN = {dtype: Path(__file__).parent / "golden" / f"conformance_{dtype}.txt" for dtype in DTYPES}
FIGURE = {"float32": 0.95, "bfloat16": 0.85, "int64": 0.85, "bool": 0.85, "complex64": 0.85}
ON_PINNED = torch.__version__.startswith("2.13")
SLICE = 9  # every ninth case that the golden list says passes


def _passing() -> list[Case]:
    return [c for c in cases(DTYPES) if str(c) not in read_golden(GOLDEN[c.dtype])[1]]


@pytest.mark.skipif(not ON_PINNED, reason="the golden list is of the pinned release")
@pytest.mark.parametrize("part", range(4))
def test_a_slice_of_the_sweep_passes(part: int) -> None:
    """The first two samples of a fixed slice of the cases that the golden list says pass, on the required kernels."""
    chosen = _passing()[4::SLICE][part::4]
    assert len(chosen) > 30
    wrong = []
    for case in chosen:
        outcome = probe(case, {"optional_kernels": False}, 2, forward_only=case.dtype != "float32")
        if outcome.status != "pass":
            wrong.append(f"{outcome.case}: {outcome.status} {outcome.detail}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_last_result_meets_the_figures(dtype: str) -> None:
    """The share of the traceable OpInfos that equal eager: no fallback, required kernels only; the list says how many samples."""
    lines = GOLDEN[dtype].read_text(encoding="utf-8").splitlines()
    settings = json.loads(next(line for line in lines if line.startswith("# settings")).partition(": ")[2])
    assert settings["dtypes"] == [dtype]
    assert settings["only"] == "*"
    assert settings["optional_kernels"] is False
    totals = json.loads(next(line for line in lines if line.startswith("# totals")).partition(": ")[2])
    assert totals["share"] >= FIGURE[dtype]


def test_golden_list_round_trips(tmp_path: Path) -> None:
    """A case passes unless the list names it; a surprise pass is a difference."""
    rows = [
        {"case": "add:float32", "status": "pass", "detail": ""},
        {"case": "bad:float32", "status": "fail", "detail": "off\nby one"},
    ]
    path = tmp_path / "golden.txt"
    path.write_text(golden({"torch": "x"}, totals_of(rows), rows))
    assert read_golden(path)[1] == {"bad:float32": "fail"}
    assert list(differences(rows, path)) == []
    assert list(differences([{**rows[1], "status": "pass"}], path)) == ["bad:float32: pass, expected fail. off by one"]


SETTINGS = {"dtypes": ["float32"], "only": "*", "samples": None, "forward_only": False, "target": "sim", "torch": "x"}


@pytest.mark.parametrize(
    "change", [{"dtypes": ["bool"]}, {"forward_only": True}, {"target": "mychip.toml"}, {"dtypes": ["float32", "bool"]}]
)
def test_a_golden_list_of_other_settings_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    """It says nothing of this run."""
    path = tmp_path / "golden.txt"
    path.write_text(golden(SETTINGS, {}, []))
    with pytest.raises(OptionError, match=f"was made with {next(iter(change))}"):
        refuse_others(path, {**SETTINGS, **change})


def test_a_golden_list_covers_selections_of_itself(tmp_path: Path) -> None:
    """Of everything: any name, any number of samples, another release; of a selection: that one."""
    path = tmp_path / "golden.txt"
    path.write_text(golden(SETTINGS, {}, []))
    refuse_others(path, {**SETTINGS, "only": "add", "samples": 2, "torch": "y"})
    path.write_text(golden({**SETTINGS, "only": "add", "samples": 2}, {}, []))
    for change in ({}, {"only": "add"}, {"samples": 2}):
        with pytest.raises(OptionError):
            refuse_others(path, {**SETTINGS, **change})
    refuse_others(path, {**SETTINGS, "only": "add", "samples": 2})


@pytest.mark.parametrize("content", [b"", b"name = 'mychip'\n", b"\xff\xfe", b"# settings: {}\nadd\n"])
def test_what_is_no_golden_list_is_refused(content: bytes, tmp_path: Path) -> None:
    """One sentence that says how to make one."""
    path = tmp_path / "golden.txt"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=r"is no golden list; `bringup conformance --accept"):
        read_golden(path)


def test_an_unknown_target_is_refused_before_the_sweep(tmp_path: Path) -> None:
    """Not once a case."""
    journal = tmp_path / "journal.jsonl"
    result = CliRunner().invoke(conformance, ["--only", "sin", "--target", "nope", "--journal", str(journal)])
    assert isinstance(result.exception, OptionError)
    assert "unknown target 'nope'" in str(result.exception)
    assert not journal.exists()


def test_accuracy_policy() -> None:
    """Dtype, shape and value; NaN where eager has it; no further from float64 than eager, within the factor."""
    one = torch.ones(2)
    assert mismatch(one, one) is None
    assert "dtype" in str(mismatch(one.double(), one))
    assert "shape" in str(mismatch(one[:1], one))
    assert mismatch(one * 1.1, one) is not None
    assert mismatch(torch.tensor([float("nan")]), torch.tensor([float("nan")])) is None
    assert mismatch(torch.tensor([float("nan")]), torch.tensor([1.0])) is not None
    half = torch.tensor([1.0], dtype=torch.bfloat16)
    assert mismatch(half + 0.03, half, lambda: torch.tensor([1.02], dtype=torch.float64)) is None
    assert mismatch(half + 0.2, half, lambda: torch.tensor([1.02], dtype=torch.float64)) is not None
    finite, nan, inf = (torch.tensor([v], dtype=torch.bfloat16) for v in (1.0, float("nan"), float("inf")))
    assert mismatch(finite, nan, finite.double) is None  # eager overflows on the way, the reference does not
    assert mismatch(nan, nan, finite.double) is None
    assert mismatch(finite * 2, nan, finite.double) is not None
    assert mismatch(finite, inf, inf.double) is not None
    assert mismatch(nan, finite, finite.double) is not None
    assert "elements differ" in str(mismatch(torch.tensor([1, 2]), torch.tensor([1, 3])))


def test_a_wrong_kernel_is_found() -> None:
    """A planted fault in a kernel is a failing case: the check can fail."""
    from dataclasses import replace

    import bringup

    sim = bringup.find_target("sim")
    row = replace(
        next(k for k in sim.kernels if k.overload == "aten::sin"), implementation=lambda x: torch.sin(x) + 1e-3
    )
    outcome = probe(Case("sin", "float32"), {"target": sim.with_kernels([row])}, 2)
    assert outcome.status == "fail"


def _work(task: str) -> str:
    if task == "crash":
        os._exit(7)
    if task == "hang":
        time.sleep(60)
    return f"{task} done"


def test_pool_survives_crashes_and_hangs() -> None:
    """A dead or hanging worker is a row; the others finish."""
    tasks = ["a", "crash", "b", "hang", "c"]
    found = sorted(run_isolated(tasks, _work, lambda t, s, d: f"{t} {s}", jobs=2, timeout=3))
    assert found == ["a done", "b done", "c done", "crash crash", "hang timeout"]


def test_journal_resumes_and_ignores_a_torn_line(tmp_path: Path) -> None:
    """What a kill cut short is run again; other settings start anew."""
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, {"torch": "x"})
    journal.add({"case": "a", "status": "pass"})
    journal.add({"case": "b", "status": "fail"})
    path.write_text(path.read_text() + '{"case": "c", "sta')
    assert set(Journal(path, {"torch": "x"}).rows) == {"a", "b"}
    assert Journal(path, {"torch": "y"}).rows == {}
    notes = tmp_path / "notes.md"
    notes.write_text("# mine\n")
    for other, why in ((notes, "is no journal"), (tmp_path, "Is a directory"), (notes / "x", "cannot be written")):
        with pytest.raises(OptionError, match=why):
            Journal(other, {"torch": "x"})
    assert notes.read_text() == "# mine\n"
