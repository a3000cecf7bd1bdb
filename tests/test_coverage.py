"""The scanner: catalogue, claims of the tables, targets as files, the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from bringup.errors import OptionError
from bringup.target.registry import find_target
from bringup.torch_internals import registered_names
from bringup_coverage.catalogue import Kind, catalogue
from bringup_coverage.commands.coverage import coverage
from bringup_coverage.scan.report import REASONS, STATUSES

CHIP = """
name = "mychip"
dtypes = ["float32"]
[kernels]
matrix = ["aten::mm"]
vector = ["aten::add.Tensor", "aten::mul.Tensor"]
memory = ["aten::view", "aten::permute", "aten::expand"]
"""


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    path = tmp_path / "mychip.toml"
    path.write_text(CHIP)
    return path


def scan(*options: str) -> dict[str, dict[str, object]]:
    """The overloads of a declared scan, by name."""
    result = CliRunner().invoke(coverage, ["--evidence", "declared", "--format", "json", *options])
    assert result.exit_code == 0, result.output
    return {row["name"]: row for row in json.loads(result.stdout)["overloads"]}


def test_catalogue_holds_every_operator_with_a_dispatcher_kernel() -> None:
    operators = catalogue().operators
    assert [n for n in operators if n.startswith("aten::")] == registered_names("aten")
    assert catalogue().builtins > 700
    if torch.__version__.startswith("2.13.0"):
        assert len(registered_names("aten")) == 3110
        assert catalogue().builtins == 776


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::add.Tensor", Kind.FUNCTIONAL),
        ("aten::add_.Tensor", Kind.IN_PLACE),
        ("aten::add.out", Kind.OUT),
        ("aten::silu_backward.grad_input", Kind.OUT),
        ("aten::_foreach_add_.List", Kind.IN_PLACE),
        ("aten::_fused_adam_", Kind.MUTATING),
        ("aten::_native_batch_norm_legit", Kind.MUTATING),
        ("aten::__and__.Tensor", Kind.FUNCTIONAL),
        ("aten::__iand__.Tensor", Kind.IN_PLACE),
    ],
)
def test_kinds_come_from_alias_annotations(name: str, kind: Kind) -> None:
    assert catalogue().operators[name].kind is kind


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("aten::add.Tensor", "portable"),
        ("aten::clamp", "portable"),
        ("aten::upsample_bicubic2d", "portable"),
        ("aten::_foreach_add.List", "foreach"),
        ("aten::cudnn_convolution", "vendor"),
        ("aten::nonzero", "data-dependent"),
        ("aten::bernoulli", "random"),
        ("aten::_sparse_mm", "sparse"),
        ("aten::quantize_per_tensor", "quantized"),
        ("aten::_nested_tensor_size", "nested"),
        ("aten::size.int", "query"),
        ("aten::_test_check_tensor", "testing"),
        ("aten::batch_norm_stats.out", "device"),
        ("prims::add", "prims"),
    ],
)
def test_tiers(name: str, tier: str) -> None:
    assert catalogue().operators[name].tier == tier


def test_variants_of_one_operator_are_linked() -> None:
    variants = catalogue().variants()["aten::add.Tensor"]
    assert {"aten::add_.Tensor", "aten::add.out", "aten::add.Scalar"} <= set(variants)


def test_declared_report_has_a_verdict_and_a_reason_for_everything() -> None:
    rows = scan()
    assert len(rows) == len(catalogue().operators)
    for row in rows.values():
        assert row["status"] in STATUSES
        assert (row["reason"] in REASONS) == (row["status"] == "none")
    assert rows["aten::mm"]["status"] == "native"
    assert rows["aten::add_.Tensor"]["status"] == "decomposed"
    assert rows["aten::cudnn_convolution"]["reason"] == "vendor"


def test_target_as_a_file(chip: Path) -> None:
    rows = scan("--target", str(chip), "--only", "aten::*mm*")
    assert rows["aten::mm"]["status"] == "native"
    target = find_target(str(chip))
    assert target.name == "mychip"
    compiled = torch.compile(
        lambda a, b: a @ b + a, backend="bringup", options={"target": str(chip), "fallback": "error"}
    )
    a = torch.rand(3, 3)
    torch.testing.assert_close(compiled(a, a), a @ a + a)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("kernels = 3", "must be a table"),
        ("[kernels]\nmatrix = ['aten::nope']", "'aten::nope'"),
        ("[kernels]\nmagic = ['aten::mm']", "no engine"),
        ("dtypes = ['float33']\n[kernels]\nmatrix = ['aten::mm']", "float33"),
        ("colour = 'red'", "unknown key 'colour'"),
        ("[kernels]", "lists no kernels"),
        ("[kernels\n", "is not TOML"),
        ("[kernels]\nmatrix = ['aten::mm']\n[dtypes_of]\n'aten::bmm' = ['int64']", "aten::bmm"),
        ("decompositions = 'mine'\n[kernels]\nmatrix = ['aten::mm']", "'mine'"),
    ],
)
def test_wrong_target_files_say_what_and_where(tmp_path: Path, wrong: str, says: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(wrong)
    with pytest.raises(OptionError, match=r"wrong\.toml") as caught:
        find_target(str(path))
    assert says in str(caught.value)


def test_gate_fails_on_losses_only(tmp_path: Path, chip: Path) -> None:
    """A kernel less is a loss; a kernel more fails only under --strict."""
    baseline = tmp_path / "baseline.json"
    options = ["--evidence", "declared", "--only", "aten::*mm*", "--target", str(chip)]
    run = CliRunner().invoke
    assert run(coverage, [*options, "--format", "json", "--output", str(baseline)]).exit_code == 0
    assert run(coverage, [*options, "--baseline", str(baseline)]).exit_code == 0
    chip.write_text(CHIP.replace('"aten::mm"', '"aten::bmm"') + '\n[dtypes_of]\n"aten::bmm" = ["float32"]\n')
    lost = run(coverage, [*options, "--baseline", str(baseline)])
    assert lost.exit_code == 1
    assert "aten::mm: worse: native ->" in lost.stderr
    chip.write_text(CHIP.replace('"aten::mm"', '"aten::mm", "aten::bmm"'))
    assert run(coverage, [*options, "--baseline", str(baseline)]).exit_code == 0
    assert run(coverage, [*options, "--baseline", str(baseline), "--strict"]).exit_code == 1


def test_a_file_that_is_no_report_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("{}")
    result = CliRunner().invoke(coverage, ["--evidence", "declared", "--baseline", str(path)])
    assert isinstance(result.exception, OptionError)
    assert "schema version 1" in str(result.exception)
