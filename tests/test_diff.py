"""`bringup diff`, `blame`, `snapshot` and `coverage --torch` from the command line."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result

from bringup.cli import commands
from bringup.errors import BringupError
from bringup_codegen.snapshots import load, releases

TARGET = """
name = "oldchip"
decompositions = "none"
[kernels]
matrix = ["aten::mm", "aten::cholesky", "aten::_cdist_backward", "aten::_cudnn_attention_forward"]
"""


@pytest.fixture
def oldchip(tmp_path: Path) -> Path:
    """A target of 2.13: two of its operators are gone or another in 2.14."""
    path = tmp_path / "oldchip.toml"
    path.write_text(TARGET)
    return path


def run(*arguments: object) -> Result:
    """The command's result; what bringup says on purpose is its output."""
    result = CliRunner().invoke(commands, [str(a) for a in arguments])
    if isinstance(result.exception, BringupError):
        return Result(
            result.runner,
            str(result.exception).encode(),
            b"",
            str(result.exception).encode(),
            None,
            2,
            None,
        )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def data(*arguments: object) -> Any:
    """JSON that a command prints."""
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_contract_of_json() -> None:
    """Keys, and a few values."""
    found = data("diff", "2.13.0", "2.14.1")
    assert set(found) >= {"from", "to", "added", "removed", "schema_changed", "tags", "composite", "core"}
    assert set(found) >= {"decompositions", "dispatch_keys", "target"}
    assert (found["from"], found["to"], found["target"]) == ("2.13.0", "2.14.1", None)
    assert found["removed"] == ["aten::cholesky", "aten::cholesky.out", "aten::qr", "aten::qr.Q"]
    change = next(c for c in found["schema_changed"] if c["name"] == "aten::_cdist_backward")
    assert change["backward_compatible"] is False
    assert change["from"].startswith("_cdist_backward(Tensor grad,")
    assert change["to"].startswith("_cdist_backward(Tensor grad_output,")
    keys = {row["key"]: row for row in found["dispatch_keys"]}
    assert (len(keys["XPU"]["gained"]), keys["XPU"]["lost"]) == (752, ["aten::_scaled_mm_v2"])
    assert found["decompositions"]["gained"] == ["aten::normal_functional"]
    assert found["core"] == {"added": [], "removed": []}


def test_what_a_release_does_to_a_target(oldchip: Path) -> None:
    """Kernels that vanish or change, and what to do; a target may have kernels that the installed torch does not."""
    found = data("diff", "2.13.0", "2.14.1", "--target", oldchip)["target"]
    assert (found["name"], found["kernels"]) == ("oldchip", 4)
    assert found["vanished"] == ["aten::cholesky"]
    assert found["schema_changed"] == ["aten::_cdist_backward", "aten::_cudnn_attention_forward"]
    assert found["to_do"][0] == "remove the kernel of aten::cholesky: the operator is gone"
    assert "adapt the kernel of aten::_cdist_backward" in found["to_do"][1]
    assert "old calls still fit" in found["to_do"][2]
    assert any("the new aten::linalg_polar and its forms aten::linalg_polar.out" in task for task in found["to_do"])


def test_new_operators_that_a_target_covers() -> None:
    """`sim` decomposes foreach operators by their schemas."""
    found = data("diff", "2.12.1", "2.13.0", "--target", "sim")["target"]
    assert [(row["name"], row["status"]) for row in found["new"]] == [("aten::_foreach_mm", "decomposed")]
    assert found["to_do"] == []


def test_verdicts_that_change() -> None:
    """PyTorch's own table of the newer release has an entry more."""
    found = data("diff", "2.14.1", "2.15.0", "--target", "sim")["target"]
    rows = {row["name"]: (row["from"], row["to"]) for row in found["verdicts"]}
    assert rows["aten::miopen_batch_norm"] == ("none", "decomposed")


def test_tables_group_many_names_into_one_line() -> None:
    """752 operators that gain a key are one line; --all lists them."""
    short = run("diff", "2.13.0", "2.14.1").output
    assert "+XPU (752): aten::__ilshift__.Scalar" in short
    assert "and 744 more" in short
    assert "more" not in run("diff", "2.13.0", "2.14.1", "--all").output


def test_markdown_and_html(oldchip: Path, tmp_path: Path) -> None:
    """Both say what is gone; the page holds every name."""
    markdown = run("diff", "2.13.0", "2.14.1", "--target", oldchip, "--format", "markdown").output
    assert "- `aten::cholesky`, `aten::cholesky.out`, `aten::qr`, `aten::qr.Q`" in markdown
    page = tmp_path / "diff.html"
    result = run("diff", "2.13.0", "2.14.1", "--target", oldchip, "--format", "html", "--output", page)
    assert result.exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<code>aten::") > 752
    assert "remove the kernel of aten::cholesky" in text
    assert "http" not in text.lower().replace("http-equiv", "")


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    """Versions, files, targets."""
    assert "no snapshot of torch '1.13' ships; there are 2.0.1" in run("diff", "1.13", "2.14.1").output
    assert "no snapshot file" in run("diff", "2.8", tmp_path / "x.txt").output
    assert "unknown target" in run("diff", "2.8", "2.9", "--target", "nosuch").output
    assert run("snapshot", "--torch", "2.8.0", "--wheel", __file__).exit_code == 2
    assert "is no wheel" in run("snapshot", "--wheel", __file__, "--output", tmp_path).output


def test_neither_diff_nor_blame_imports_torch() -> None:
    """Start-up counts."""
    for line in ("'diff', '2.13', '2.14'", "'blame', 'aten::qr'"):
        code = (
            f"import sys\nfrom bringup.cli import main\nsys.argv = ['bringup', {line}]\n"
            "try:\n    main()\nexcept SystemExit as e:\n    assert not e.code\nsys.exit('torch' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_history_of_an_operator() -> None:
    """All overloads of a name, or one."""
    events = data("blame", "aten::qr")
    assert {e["overload"] for e in events} == {"aten::qr", "aten::qr.Q"}
    assert [(e["release"], e["fact"]) for e in events if e["overload"] == "aten::qr"] == [
        ("2.0.1", "added"),
        ("2.14.1", "removed"),
    ]
    assert [e["overload"] for e in data("blame", "qr.Q")] == ["aten::qr.Q", "aten::qr.Q"]
    assert "2.14.1   removed" in run("blame", "aten::qr").output
    assert "did you mean 'aten::qr'?" in run("blame", "aten::qrr").output


@pytest.mark.parametrize("packet", ["_cdist_backward", "stack", "linear_backward", "_scaled_mm", "normal_functional"])
def test_the_history_tells_every_fact(packet: str) -> None:
    """A release has events of an overload exactly where its stanza is another than before."""
    told = {(e["overload"], e["release"]) for e in data("blame", f"aten::{packet}")}
    stanzas = [load(release) for release in releases()]
    changed = set()
    for before, now in itertools.pairwise([None, *stanzas]):
        for name in (n for s in stanzas for n in s.operators if n.partition(".")[0] == packet):
            if (before.operators.get(name) if before else None) != now.operators.get(name):
                changed.add((f"aten::{name}", now.torch))
    assert told == changed


def test_a_declared_scan_of_a_release_that_is_not_installed(oldchip: Path) -> None:
    """From its snapshot alone, with kernels of operators that are gone since."""
    found = data("coverage", "--torch", "2.8.0", "--evidence", "declared", "--target", oldchip)
    assert (found["torch"], found["target"], found["totals"]["overloads"]) == ("2.8.0", "oldchip", 3164)
    rows = {row["name"]: row for row in found["overloads"]}
    assert rows["aten::cholesky"]["status"] == "native"
    assert rows["aten::addcmul"]["status"] == "none"  # the file asks for no decompositions


def test_the_installed_release_is_judged_alike_from_its_snapshot() -> None:
    """A declared scan of `sim` by the runtime and by the text: the same verdicts."""
    version = torch.__version__.partition("+")[0]
    by_text = data("coverage", "--torch", version)
    by_runtime = data("coverage", "--evidence", "declared", "--only", "aten::*")
    text = {row["name"]: (row["status"], row["tier"]) for row in by_text["overloads"]}
    runtime = {row["name"]: (row["status"], row["tier"]) for row in by_runtime["overloads"]}
    elsewhere = set(load(version).runtime)
    assert {n for n in runtime if n not in text} == {f"aten::{n}" for n in elsewhere}
    assert {n: (text[n], runtime[n]) for n in text if text[n] != runtime[n]} == {}


def test_options_that_say_nothing_about_a_release() -> None:
    """Traces need an installed torch."""
    assert "only --evidence declared, not run" in run("coverage", "--torch", "2.8", "--evidence", "run").output
    assert "--dtypes says nothing about --torch" in run("coverage", "--torch", "2.8", "--dtypes", "float32").output
    assert "--backend says nothing about --torch" in run("coverage", "--torch", "2.8", "--backend", "inductor").output


def test_the_snapshot_of_the_installed_torch(tmp_path: Path) -> None:
    """Is written where it is asked for, with what only the runtime shows, and can be compared."""
    result = run("snapshot", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    version = torch.__version__.partition("+")[0]
    made = load(str(tmp_path / f"{version}.txt"))
    assert made.runtime_torch == torch.__version__
    assert "quantized_lstm.input" in made.runtime
    found = data("diff", version, tmp_path / f"{version}.txt")
    assert (found["added"], found["removed"], found["schema_changed"], found["dispatch_keys"]) == ([], [], [], [])
