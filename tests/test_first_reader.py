"""What a first reader tripped over: compiled optimizers, device files, files that cannot be read or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

import bringup
from bringup import OptionError, find_target
from bringup.device.profile import find_profile
from bringup_coverage.commands.coverage import coverage
from bringup_coverage.commands.explain import explain
from bringup_coverage.gate import read_report
from bringup_coverage.progress import progress
from bringup_coverage.reports.totals import claim

OPTIONS: tuple[dict[str, Any], ...] = tuple({"optional_kernels": o, "fallback": "error"} for o in (True, False))
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
}


def trained(name: str, wrap: Callable[[Any], Any]) -> list[torch.Tensor]:
    """Two parameters after three steps of an optimizer."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(3, 4)), torch.nn.Parameter(torch.randn(5))]
    optimizer = OPTIMIZERS[name](parameters)
    step = wrap(optimizer.step)
    for _ in range(3):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        step()
    return [p.detach() for p in parameters]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_are_compiled(name: str, options: dict[str, Any]) -> None:
    """Dynamo captures ``addcmul_`` as a fused multiplication and addition, an operator of its own."""
    expected = trained(name, lambda step: step)
    actual = trained(name, lambda step: torch.compile(step, backend="bringup", options=options))
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "small"', "unknown key 'name'"),
        ("memory_bites = 1", "did you mean 'memory_bytes'"),
        ("memory_bytes = 0", "a whole number of bytes above 0"),
        ("memory_bytes = true", "a whole number of bytes above 0"),
        ("description = 3", "it takes a text"),
        ("memory_bytes = ", "cannot be read"),
    ],
)
def test_a_bad_device_file_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    """Which key, what was found and what it takes."""
    file = tmp_path / "small.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=said):
        find_profile(str(file))


def test_a_device_file_enforces_its_capacity(tmp_path: Path) -> None:
    """A file with a capacity alone is a device."""
    file = tmp_path / "small.toml"
    file.write_text("memory_bytes = 1000", encoding="utf-8")
    assert find_profile(str(file)).description == "small"
    compiled = torch.compile(torch.sin, backend="bringup", options={"device": str(file)})
    with pytest.raises(bringup.DeviceMemoryError):
        compiled(torch.ones(1000))


def test_files_of_other_encodings_and_folders_that_cannot_be(tmp_path: Path) -> None:
    """One sentence each, and the baseline is read before anything is scanned."""
    (tmp_path / "bad.toml").write_bytes(b'name="\xff"')
    with pytest.raises(OptionError, match="not UTF-8"):
        find_target(str(tmp_path / "bad.toml"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    scan = ["--evidence", "declared", "--only", "aten::mm"]
    result = CliRunner().invoke(coverage, [*scan, "--output", str(tmp_path / "file" / "x.html")])
    assert isinstance(result.exception, OptionError)
    result = CliRunner().invoke(coverage, [*scan, "--baseline", str(tmp_path / "file")])
    assert isinstance(result.exception, OptionError)
    assert result.output == ""


def test_a_declared_share_does_not_say_that_anything_runs() -> None:
    """The tables name kernels and decompositions; whether what those end in has kernels was not looked at."""
    assert claim({"target": "mychip", "evidence": "traced"}) == "run on mychip"
    assert "run on" not in claim({"target": "mychip", "evidence": "declared"})


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where stderr is no terminal there is no bar, but a long run is seen to go on."""
    monkeypatch.setattr("bringup_coverage.progress.EVERY", 0.0)
    with progress("sweep", total=3, done=1) as advance:
        advance("aten::b")
        advance("aten::c")
    assert capsys.readouterr().err == "sweep: 2 of 3, aten::b\nsweep: 3 of 3, aten::c\n"


def test_explaining_without_a_call_is_no_success() -> None:
    """A script sees by the exit status that nothing was traced."""
    result = CliRunner().invoke(explain, ["aten::add.Tensor", "--dtype", "bool"])
    assert result.exit_code == 0
    result = CliRunner().invoke(explain, ["aten::_cudnn_init_dropout_state"])
    assert result.exit_code == 1
    assert "no call" in result.output


def test_a_report_with_a_row_that_lacks_something_is_refused(tmp_path: Path) -> None:
    """With the row's number and the key."""
    path = tmp_path / "report.json"
    path.write_text('{"schema_version": 1, "overloads": [{"name": "aten::mm"}]}')
    with pytest.raises(OptionError, match="its overload 0 has no 'namespace'"):
        read_report(path)
