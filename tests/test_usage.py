"""What programs call, and what that makes of the kernels that a target lacks."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

from bringup.target.registry import find_target
from bringup.torch_internals import find_overload
from bringup_coverage.architectures.catalogue import ARCHITECTURES
from bringup_coverage.commands.capture import capture
from bringup_coverage.commands.next import next_kernels
from bringup_coverage.ranking import Need, Needs, rank
from bringup_coverage.ranking.check import check
from bringup_coverage.ranking.smallest import smallest
from bringup_coverage.scan import Settings, scan
from bringup_coverage.usage import models, models_using, opinfos, recorded_on
from bringup_coverage.usage.record import Recorder
from bringup_coverage.usage.record_models import record_models
from bringup_coverage.usage.record_opinfos import record_opinfos, watched
from bringup_coverage.usage.shipped import read_usage
from bringup_coverage.usage.usage import SHAPES, Calls, Usage, from_plain, to_plain

DEVELOPED_ON = torch.__version__.startswith(recorded_on())


def step(times: int = 1) -> Usage:
    """Sine of a product, summed and differentiated."""
    a, b = torch.randn(2, 3, requires_grad=True), torch.randn(3, 4, requires_grad=True)
    with Recorder() as recorder:
        for _ in range(times):
            (a @ b).sin().sum().backward()
    return recorder.usage


@pytest.mark.parametrize("times", [1, 3])
def test_calls_are_counted_exactly_forward_and_backward(times: int) -> None:
    """d sum(sin(ab)) = cos(ab): a's gradient is cos(ab) b^T, b's is a^T cos(ab)."""
    usage = step(times)
    by_hand = {
        "aten::mm": (1, 2),
        "aten::sin": (1, 0),
        "aten::sum": (1, 0),
        "aten::ones_like": (1, 0),
        "aten::expand": (0, 1),
        "aten::cos": (0, 1),
        "aten::mul.Tensor": (0, 1),
        "aten::t": (0, 2),
    }
    counted = {n: (c.forward, c.backward) for n, c in usage.items() if n in by_hand}
    assert counted == {n: (times * f, times * b) for n, (f, b) in by_hand.items()}
    assert set(usage) - set(by_hand) <= {
        "aten::detach",
        "aten::add.Tensor",
        "aten::add_.Tensor",
    }  # gradients that add up


def test_dtypes_and_shapes_of_every_call() -> None:
    with Recorder() as recorder:
        for size in range(1, SHAPES + 3):
            torch.embedding(torch.ones(size, 2), torch.tensor([0, 0]))
        torch.cat([torch.ones(2, 2)] * 3)
        torch.ones(3)
    embedding = recorder.usage["aten::embedding"]
    assert embedding.dtypes == {"float32 int64": SHAPES + 2}
    assert embedding.shapes["float32[1,2] int64[2]"] == 1
    assert (len(embedding.shapes), embedding.other_shapes) == (SHAPES, 2)
    assert recorder.usage["aten::cat"].shapes == {"3*float32[2,2]": 1}
    assert recorder.usage["aten::ones"].dtypes == {"": SHAPES + 4}  # no tensor goes in
    assert from_plain(json.loads(json.dumps(to_plain(recorder.usage)))) == recorder.usage


def test_compiled_functions_and_higher_order_operators_are_seen() -> None:
    x = torch.ones(2)
    compiled = torch.compile(lambda x: x.sin().cos(), backend="bringup")
    compiled(x)
    with Recorder() as recorder:
        compiled(x)
        torch.cond(x.sum() > 0, torch.exp, torch.exp, (x,))
    assert {n: c.count for n, c in recorder.usage.items() if n in ("aten::sin", "aten::cos")} == {
        "aten::sin": 1,
        "aten::cos": 1,
    }
    assert recorder.usage["higher_order::cond"].count == 1


def test_what_is_shipped() -> None:
    """More than the promised 60 architectures, each with a backward, by names that this torch has."""
    assert len(models()) >= 60
    assert set(models()) == {a.model_type for a in ARCHITECTURES}
    assert len(opinfos()) > 600
    assert models()["bert"]["aten::addmm"] > 0
    assert "bert" in models_using("aten::native_layer_norm")
    assert "resnet" not in models_using("aten::native_layer_norm")
    assert models_using("aten::no_such_operator") == []
    if DEVELOPED_ON:
        called = {n for counts in models().values() for n in counts} | {
            n for names in opinfos().values() for n in names
        }
        assert not [n for n in called if find_overload(n) is None]


def test_reading_what_is_shipped_does_not_import_torch() -> None:
    code = "import sys\nfrom bringup_coverage.usage import models_using\nassert models_using('aten::mm')\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not DEVELOPED_ON, reason="another release calls other operators")
def test_shipped_data_are_what_is_recorded_now() -> None:
    pytest.importorskip("transformers")
    chosen = [a for a in ARCHITECTURES if a.model_type in ("bert", "resnet")]
    for row in record_models(chosen, jobs=1):
        assert {n: c.count for n, c in from_plain(row.usage).items()} == models()[row.name]
    for row in record_opinfos([c for c in watched() if c.operator in ("nn.functional.silu", "sort")], jobs=1):
        assert sorted(row.usage) == opinfos()[row.name]


def need(overload: str, *ways: str) -> Need:
    return Need(overload, tuple(frozenset(way) for way in ways))


def test_the_smallest_set_is_the_smallest() -> None:
    """Against trying all sets; greedy steps alone take a first here, for it meets the most needs, and two more."""
    hard = [
        need("p", "ab", "p"),
        need("q", "ac", "q"),
        need("r", "ab", "bc"),
        need("s", "ac", "bc"),
        need("t", "bcd", "t"),
    ]
    easy = [need("p", "a"), need("q", "ab", "q"), need("r", "b", "ac")]
    for needs in (hard, easy, hard + easy, []):
        found = smallest(needs)
        names = sorted({name for n in needs for name in n.helpful})
        sets = (frozenset(s) for size in range(len(names) + 1) for s in combinations(names, size))
        best = next(s for s in sets if all(n.met(s) for n in needs))
        assert all(n.met(found.kernels) for n in needs)
        assert len(found.kernels) == len(best) == found.at_least


def test_elements_that_others_make_unneeded_are_dropped() -> None:
    """Without the search: the own kernel of q goes, since the leaves of r, which has no other way, are q's as well."""
    needs = [need("q", "q", "ab"), need("r", "ab"), need("u", "u")]
    found = smallest(needs, steps=0)
    assert found.kernels == frozenset("abu")
    assert found.at_least == 3


TINY = """
name = "tiny"
[kernels]
vector = ["aten::add.Tensor", "aten::mul.Tensor"]
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_a_target_whose_answer_is_known(tiny: Path) -> None:
    """With sums and products alone: addmm is mm and a sum, silu is x sigmoid(x), addcmul needs nothing."""
    listed = {"aten::mm", "aten::addmm", "aten::addcmul", "aten::sigmoid", "aten::silu", "aten::exp", "aten::tanh"}
    settings = Settings(str(tiny), "traced", ("float32",), calls=1, gradient=False, dynamic=False)
    report = scan(settings, chosen=lambda operator: operator.name in listed)
    target = find_target(str(tiny))
    needs = Needs.of(report, target.rows)
    used = {
        "linear": {"aten::addmm": 5},
        "gate": {"aten::silu": 2, "aten::addmm": 1},
        "scale": {"aten::addcmul": 1},
        "custom": {"mine::operator": 1},
    }
    found = rank(
        needs, used, {"silu": ["aten::silu"], "tanh": ["aten::tanh", "aten::exp"]}, ["linear", "gate", "scale"]
    )
    rows = {row.overload: row for row in found.rows}
    assert set(rows) == {f"aten::{n}" for n in ("mm", "addmm", "sigmoid", "silu", "exp", "tanh")} | {"mine::operator"}
    mm, sigmoid = rows["aten::mm"], rows["aten::sigmoid"]
    assert (mm.unlocks_overloads, mm.unlocks_opinfos, mm.unlocks_models) == (2, 0, 1)
    assert (sigmoid.unlocks_overloads, sigmoid.unlocks_opinfos, sigmoid.unlocks_models) == (2, 1, 0)
    assert (sigmoid.helps_models, sigmoid.calls, mm.calls) == (1, 2, 6)
    assert rows["mine::operator"].unlocks_models == 1
    assert rows["aten::tanh"].unlocks_opinfos == 0
    assert found.rows[0].overload in ("aten::mm", "aten::addmm")  # either one unlocks a model
    assert found.covered == {"overloads": (1, 7), "opinfos": (0, 2), "models": (1, 4)}
    assert len(found.smallest) == found.at_least == 2
    assert [row.models_after for row in found.smallest] == [2, 3]
    kernels = [row.overload for row in found.smallest]
    lacked = [n.overload for n in found.needs]
    assert all(c.calls and not c.problem for c in check(target, kernels, lacked, "float32", jobs=1, timeout=60))
    wrong = check(target, kernels[:1], lacked, "float32", jobs=1, timeout=60)
    assert any(c.problem for c in wrong)  # the check can fail


def invoke(command: object, *options: str) -> Result:
    return CliRunner().invoke(command, options)  # type: ignore[arg-type]


def test_next_prints_the_contract(tiny: Path) -> None:
    result = invoke(
        next_kernels, "--target", str(tiny), "--evidence", "declared", "--model", "bert", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {"overload", "unlocks_overloads", "unlocks_opinfos", "unlocks_models"} <= set(rows[0])
    unlocks = [(r["unlocks_models"], r["unlocks_opinfos"], r["unlocks_overloads"]) for r in rows]
    assert unlocks == sorted(unlocks, reverse=True)
    assert "aten::mul.Tensor" not in {r["overload"] for r in rows}
    chosen = sorted((r["order"], r["models_after"]) for r in rows if r["order"])
    assert [order for order, _ in chosen] == list(range(1, len(chosen) + 1))
    assert chosen[-1][1] == 1
    assert f"unlocks bert: {len(chosen)} kernel" in result.stderr


def test_next_for_a_captured_script(tiny: Path, tmp_path: Path) -> None:
    script, usage, table = tmp_path / "train.py", tmp_path / "usage.json", tmp_path / "next.md"
    script.write_text("import torch\nprint('hello')\ntorch.ones(2, 2) @ torch.ones(2, 2)\n")
    assert invoke(capture, "--format", "json", "--output", str(usage), str(script)).exit_code == 0
    options = ("--target", str(tiny), "--evidence", "declared", "--usage", str(usage), "--format", "markdown")
    result = invoke(next_kernels, *options, "--limit", "2", "--output", str(table))
    assert result.exit_code == 0, result.output
    text = table.read_text()
    assert "| aten::mm " in text
    assert "unlocks train: " in text
    assert "0 of 1 models" in text


def test_capture_passes_on_what_a_script_does(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch\nprint('says', sys.argv[1:], __name__)\ntorch.ones(2).sin()\n"
        "if '--raise' in sys.argv: raise ValueError('broken')\n"
        "if '--leave' in sys.argv: sys.exit(7)\n"
    )
    before = list(sys.argv)
    fine = invoke(capture, "--format", "json", str(script), "--format", "x")
    assert fine.exit_code == 0
    assert json.loads(fine.stdout)["models"]["script"]["aten::sin"]["forward"] == 1
    assert "says ['--format', 'x'] __main__" in fine.stderr
    assert invoke(capture, str(script), "--leave").exit_code == 7
    broken = invoke(capture, str(script), "--raise")
    assert broken.exit_code == 1
    assert "aten::sin" in broken.stdout
    assert "script raised ValueError; shown are the 2 calls" in broken.stderr
    assert "bringup_coverage" not in broken.stderr  # the traceback begins in the script
    assert sys.argv == before


def test_capture_of_a_function_and_of_models() -> None:
    result = invoke(capture, "--call", "torch:get_default_dtype")
    assert result.exit_code == 1
    assert "no operator was called" in result.stderr
    pytest.importorskip("transformers")
    command = [sys.executable, "-m", "bringup", "capture", "--models", "bert", "--format", "json", "--jobs", "1"]
    # of its own: with a CUDA build no fork of a process that has run a backward can run one
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    found = from_plain(json.loads(result.stdout)["models"]["bert"])
    if DEVELOPED_ON:
        assert {n: c.count for n, c in found.items()} == models()["bert"]


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        (capture, (), "nothing to capture"),
        (capture, ("--call", "os:getcwd", "--models", "bert"), "do not go together"),
        (capture, ("no_such_file.py",), "does not exist"),
        (capture, ("--call", "getcwd"), "package.module:function"),
        (capture, ("--call", "os:nothing"), "cannot be loaded"),
        (capture, ("--call", "os:sep"), "cannot be called"),
        (capture, ("--models", "no-such-model"), "matches no model type"),
        (next_kernels, ("--model", "bertt"), "did you mean 'bert'"),
        (next_kernels, ("--models", "no-such-*"), "matches no shipped model"),
        (next_kernels, ("--model", "bert", "--models", "all"), "do not go together"),
        (next_kernels, ("--limit", "0"), "not in the range"),
        (next_kernels, ("--target", "no-such-target"), "unknown target"),
        (next_kernels, ("--usage", __file__), "no captured usage"),
    ],
)
def test_bad_input_is_one_sentence(command: object, options: tuple[str, ...], said: str) -> None:
    result = invoke(command, *options)
    assert said in result.output + str(result.exception)
    assert result.exit_code == 2 or type(result.exception).__name__ == "OptionError"  # which main turns into status 2


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"schema_version": 9, "models": {}}', '{"schema_version": 1, "models": {"m": {"aten::mm": {"x": 1}}}}'],
)
def test_files_that_hold_no_usage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "usage.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="usage"):
        read_usage(path)


def test_counts_must_be_numbers() -> None:
    with pytest.raises(TypeError):
        from_plain({"aten::mm": Calls(forward="many").to_dict()})  # type: ignore[arg-type]
