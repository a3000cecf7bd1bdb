"""Cost models of single operators: known sizes, limits that hold on any chip, files that are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bringup.commands.validate import validate
from bringup.device.costs import Attention, Collective, Matmul
from bringup.device.measurements import COLUMNS, Measurement, read_measurements
from bringup.device.profile import find_profile
from bringup.device.validation import fitted_constants, group_of, predict, report
from bringup.device.works import work_of
from bringup.errors import OptionError

HEAD = ",".join(COLUMNS)
# one H200, timed by bringup's authors: 788 TFLOP/s at 8192 cubed
H200 = Measurement("H200", 1, "gemm", "M=8192;N=8192;K=8192", "bf16", "throughput", 788.0, "TFLOP/s", "own")


def write(folder: Path, *rows: str) -> Path:
    """A file of measurements."""
    path = folder / "measured.csv"
    path.write_text("\n".join((HEAD, *rows)) + "\n", encoding="utf-8")
    return path


def test_flops_are_those_of_the_formula() -> None:
    """2MNK; 4 b h s^2 d forward, half under a causal mask; 3.5 times with the backward pass."""
    assert Matmul(2, 3, 5, "bf16").flops == 60
    full = Attention(1, 2, 2, 8, 8, 4, False, "bf16")
    assert full.flops == 4 * 2 * 64 * 4
    assert replace(full, causal=True).flops == full.flops / 2
    assert replace(full, products=7).flops == 3.5 * full.flops


def test_bytes_on_the_wire() -> None:
    """A ring sends 2 (n-1)/n of the tensor for a sum, half of that for a gather."""
    assert Collective("all_reduce", 4, 1000.0).wire == 1500
    assert Collective("all_gather", 4, 1000.0).wire == 750


@pytest.mark.parametrize("device", ["A100-SXM4-80GB", "H100-SXM5-80GB", "H200", "B200", "GB200"])
def test_no_product_is_quicker_than_the_data_sheet(device: str) -> None:
    """Peak and bandwidth are bounds for each size; a larger product is no quicker."""
    constants = fitted_constants()[f"gemm {device} bf16 graph"]
    chip = find_profile(device.split("-")[0].lower())
    before = 0.0
    for m in (1, 16, 128, 1024, 8192):
        work = Matmul(m, 4096, 4096, "bf16")
        seconds = work.seconds(chip, constants)
        assert seconds > work.flops / chip.peak_flops["bf16"]
        assert seconds > 2 * 4096 * 4096 / chip.memory_bandwidth
        assert seconds >= before
        before = seconds


def test_a_large_product_is_near_what_was_measured() -> None:
    """Within 10 %, in the row's own unit."""
    predicted = predict(H200, fitted_constants()).predicted
    assert predicted is not None
    assert abs(predicted / 788 - 1) < 0.10


def test_errors_are_computed_not_stored() -> None:
    """A value that is twice as high halves the prediction's ratio."""
    p = predict(H200, fitted_constants())
    twice = predict(replace(H200, value=2 * H200.value), fitted_constants())
    assert p.predicted == twice.predicted
    assert twice.error is not None and twice.error > 0.4


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"device": "TPU"}, "no profile of device 'TPU'"),
        ({"dtype": "int3"}, "profile 'h200' has no peak for dtype 'int3'"),
        ({"workload": "mlperf_train"}, "no cost model for workload 'mlperf_train'"),
        ({"shapes": "M=1;N=2"}, "'K' is missing"),
        ({"metric": "energy", "unit": "J"}, "no rule for metric 'energy'"),
        ({"dtype": "fp8"}, "no constants were fitted for 'gemm H200 fp8 graph'"),
    ],
)
def test_what_is_not_modelled_says_why(changed: dict[str, str], reason: str) -> None:
    """Counted and listed, never dropped."""
    row = replace(H200, **changed)  # pyright: ignore[reportArgumentType]
    found = report([predict(row, fitted_constants())])
    assert found["unmodelled"] == 1 and found["rows"][0]["predicted"] is None
    assert reason in found["rows"][0]["reason"]


def test_the_command_writes_each_row(tmp_path: Path) -> None:
    """In order, with its columns."""
    path = write(
        tmp_path,
        "H200,1,gemm,M=8192;N=8192;K=8192,bf16,throughput,788,TFLOP/s,own",
        "H200,8,all_reduce,bytes=1073741824,fp32,bus_bandwidth,463.6,GB/s,own",
        "H200,8,mlperf_train,benchmark=BERT,mixed,time_to_train,5.2,min,own",
    )
    result = CliRunner().invoke(validate, [str(path), "--format", "json"])
    found = json.loads(result.output)
    assert [set(COLUMNS) | {"predicted", "reason"}] * 3 == [set(r) for r in found["rows"]]
    assert (found["modelled"], found["unmodelled"]) == (2, 1)
    assert "1 not" in CliRunner().invoke(validate, [str(path)]).output


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("H200,one,gemm,M=1,bf16,latency,1,ms,x", ":2: n_devices and value take numbers"),
        ("H200,1,gemm,M=1,bf16,latency,-1,ms,x", ":2: n_devices is 1 and value is -1.0"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    """One sentence."""
    with pytest.raises(OptionError, match=message):
        read_measurements(write(tmp_path, row))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    """As is a missing file."""
    path = tmp_path / "m.csv"
    path.write_text("device,value\nH200,1\n", encoding="utf-8")
    with pytest.raises(OptionError, match="no column n_devices"):
        read_measurements(path)
    with pytest.raises(OptionError, match="cannot be read"):
        read_measurements(tmp_path / "none.csv")


def test_a_wrong_figure_of_a_profile_is_named(tmp_path: Path) -> None:
    """With the key."""
    path = tmp_path / "chip.toml"
    path.write_text("[peak_flops]\nbf16 = -1.0\n", encoding="utf-8")
    with pytest.raises(OptionError, match="peak_flops"):
        find_profile(str(path))


def test_eager_timings_have_a_floor_of_their_own() -> None:
    """By the source."""
    assert group_of(replace(H200, source="github.com/PrincetonUniversity/LLMCompass@1")).endswith("eager")
    assert isinstance(work_of(H200), Matmul)


def test_predictions_need_no_torch() -> None:
    """They start at once."""
    code = "import bringup.device.validation, bringup.commands.validate, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
