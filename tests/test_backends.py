"""Backends as black boxes, dispatch keys, and two reports side by side."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from click.testing import CliRunner
from torch._dynamo.backends.registry import _COMPILER_FNS, register_backend
from torch.utils import _pytree as pytree

from bringup.errors import OptionError
from bringup.torch_internals import dispatch_rules
from bringup_coverage.commands.coverage import coverage
from bringup_coverage.reports.schema import report_schema
from bringup_coverage.scan.black_box_call import how
from bringup_coverage.scan.operator_table import OperatorTable, operator_table
from bringup_coverage.scan.report import REASONS

Rows = dict[str, dict[str, Any]]
ONE = ("--dtypes", "float32", "--jobs", "1", "--fresh")
TABLE = operator_table()
needs_table = pytest.mark.skipif(TABLE is None, reason="this release ships no operator table")


def scan(*options: str) -> Rows:
    """The overloads of a scan, by name; the report keeps to the contract."""
    result = CliRunner().invoke(coverage, ["--format", "json", *options])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    report = json.loads(result.stdout)
    check(report, report_schema(), report_schema()["$defs"])
    for row in report["overloads"]:
        assert (row["reason"] in REASONS) == (row["status"] == "none")
    return {row["name"]: row for row in report["overloads"]}


def check(value: Any, schema: dict[str, Any], defs: dict[str, Any], where: str = "report") -> None:
    """What the contract uses of JSON Schema."""
    schema = defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    if "enum" in schema:
        assert value in schema["enum"], where
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    assert not wanted or any(value is None if k == "null" else isinstance(value, kinds[k]) for k in wanted), where  # type: ignore[arg-type]
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= value.keys(), where
        for key, inner in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if rule:
                check(inner, rule, defs, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, inner in enumerate(value):
            check(inner, schema["items"], defs, f"{where}[{i}]")


def wrong(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """A backend whose results are off by one."""
    return lambda *args: pytree.tree_map(lambda t: t + 1, gm(*args))


def refusing(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """A backend that takes nothing."""
    raise RuntimeError("this chip has no such unit")


def dying(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """A backend that takes the process with it."""
    os._exit(3)


def by_hand(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """A backend with one kernel of its own; like many, it takes no tensor that needs gradients."""

    def absolute(*args: Any) -> tuple[torch.Tensor]:
        out = torch.empty_like(args[-1])
        np.abs(args[-1].numpy(), out=out.numpy())
        return (out,)

    return absolute


def by_parts(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """A backend that computes silu by other operators."""
    return lambda *args: (args[-1] * torch.sigmoid(args[-1]),)


@pytest.fixture
def toys() -> Iterator[None]:
    """The backends above, registered."""
    backends = {f"toy_{f.__name__}": f for f in (wrong, refusing, dying, by_hand, by_parts)}
    for name, backend in backends.items():
        register_backend(backend, name)
    yield
    for name in backends:
        del _COMPILER_FNS[name]


def test_aot_eager_covers_what_eager_runs() -> None:
    rows = scan("--backend", "aot_eager", "--only", "aten::*_softmax", *ONE)
    assert rows["aten::_softmax"]["status"] == "native"
    assert "eager's own kernel" in rows["aten::_softmax"]["detail"]
    assert rows["aten::_softmax"]["evidence"]["level"] == "run"
    assert rows["aten::_softmax"]["evidence"]["gradient"] is True
    assert rows["aten::_softmax"]["evidence"]["dynamic"] is True
    assert rows["aten::special_softmax"]["status"] == "decomposed"
    assert "aten::_softmax" in rows["aten::special_softmax"]["through"]


def test_bringup_is_a_backend_as_well() -> None:
    row = scan("--backend", "bringup", "--only", "aten::special_softmax", *ONE)["aten::special_softmax"]
    assert row["status"] == "decomposed"
    assert row["through"]


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("backend", "name", "status", "reason", "says"),
    [
        ("toy_wrong", "aten::sin", "none", "wrong-result", "off by"),
        ("toy_wrong", "aten::equal", "none", "untraceable", "non-Tensor"),
        ("toy_refusing", "aten::sin", "none", "backend-error", "no such unit"),
        ("toy_dying", "aten::sin", "none", "crash", "exit status 3"),
        ("toy_by_hand", "aten::abs", "native", None, "no PyTorch operator computed"),
        ("toy_by_hand", "aten::sin", "none", "wrong-result", "off by"),
        ("toy_by_parts", "aten::silu", "decomposed", None, "other operators"),
    ],
)
def test_verdicts_of_toy_backends(backend: str, name: str, status: str, reason: str | None, says: str) -> None:
    row = scan("--backend", backend, "--only", name, "--forward-only", *ONE)[name]
    assert (row["status"], row["reason"]) == (status, reason), row["detail"]
    assert says in row["detail"]
    assert (row["evidence"]["level"] == "run") == (status != "none")
    if backend == "toy_by_parts":
        assert row["through"] == ["aten::mul.Tensor", "aten::sigmoid"]


@pytest.mark.usefixtures("toys")
def test_only_the_backend_is_blamed_for_its_gradients() -> None:
    """A backend that is right without gradients and wrong with them is not covered."""
    row = scan("--backend", "toy_by_parts", "--only", "aten::silu", *ONE)["aten::silu"]
    assert row["status"] == "decomposed"
    assert row["evidence"]["gradient"] is True  # what it calls has gradients of its own
    row = scan("--backend", "toy_by_hand", "--only", "aten::abs", *ONE)["aten::abs"]
    assert (row["status"], row["reason"]) == ("none", "backend-error")
    assert row["detail"].startswith("gradient: ")


def test_what_cannot_be_tried_is_said_to_be_so() -> None:
    rows = scan("--backend", "eager", "--only", "aten::_sparse_mm", *ONE)
    assert rows["aten::_sparse_mm"]["reason"] == "no-call"
    assert rows["aten::_sparse_mm"]["evidence"]["level"] == "declared"


@pytest.mark.parametrize(
    ("name", "ran", "status", "detail", "through"),
    [
        ("aten::mm", (), "native", "own code", ()),
        ("aten::mm", ("aten::empty_strided", "aten::view"), "native", "views were made by aten::empty", ()),
        ("aten::new_empty", ("aten::new_empty",), "native", "eager's own kernel", ()),
        ("aten::mm", ("aten::mm",), "native", "eager's own kernel: aten::mm ran", ()),
        ("aten::mm", ("aten::mm.out", "aten::copy_"), "native", "eager's own kernel: aten::copy_, aten::mm.out", ()),
        ("aten::mm", ("aten::addmm", "aten::view"), "decomposed", "", ("aten::addmm",)),
        ("aten::t", ("aten::permute",), "decomposed", "", ("aten::permute",)),
    ],
)
def test_how_a_call_ran(name: str, ran: tuple[str, ...], status: str, detail: str, through: tuple[str, ...]) -> None:
    found, said, kernels = how(name, frozenset(ran))
    assert (found, kernels) == (status, through)
    assert detail in said


def test_a_backend_that_is_not_registered_is_found_by_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mychip_backend.py").write_text("def compile_graph(gm, inputs):\n    return gm.forward\n")
    monkeypatch.chdir(tmp_path)
    row = scan("--backend", "mychip_backend:compile_graph", "--only", "aten::sin", *ONE)["aten::sin"]
    assert row["status"] == "native"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--backend", "nope"), "inductor"),
        (("--backend", "inducter"), "did you mean 'inductor'"),
        (("--backend", "nope:nothing"), "cannot be loaded"),
        (("--dispatch-key", "CUDAA"), "did you mean 'CUDA'"),
        (("--dispatch-key", "Foo"), "SparseCPU"),
        (("--backend", "eager", "--evidence", "traced"), "--evidence run"),
        (("--backend", "eager", "--required-only"), "says nothing about a backend"),
        (("--dispatch-key", "CPU", "--dtypes", "float32"), "--dtypes says nothing"),
        (("--dispatch-key", "CPU", "--evidence", "run"), "--evidence declared"),
        (("--dispatch-key", "CPU", "--target", "sim"), "do not go together"),
        (("--dispatch-key", "CPU", "--only", "nothing*"), "matches no overload"),
        (("--compare", "{report}", "--compare", "{report}", "--backend", "eager"), "scans nothing"),
        (("--compare", "{report}", "--format", "csv"), "table or html"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    report = tmp_path / "report.json"
    report.write_text('{"schema_version": 1, "overloads": []}')
    result = CliRunner().invoke(coverage, [o.format(report=report) for o in options])
    assert isinstance(result.exception, (SystemExit, OptionError))
    assert says in (str(result.exception) if isinstance(result.exception, OptionError) else result.stderr)
    assert result.exit_code in (1, 2)


def test_the_dispatcher_of_this_build() -> None:
    rows = scan("--dispatch-key", "CPU")
    assert rows["aten::mm"]["status"] == "native"
    assert rows["aten::mm"]["evidence"]["sources"] == ["registered in this build"]
    assert rows["aten::softmax.int"]["status"] == "decomposed"
    assert "CompositeImplicitAutograd" in rows["aten::softmax.int"]["detail"]
    assert rows["aten::zeros_like"]["status"] == "decomposed"
    assert rows["aten::_cudnn_init_dropout_state"]["reason"] == "no-registration"
    native = {n for n, row in rows.items() if row["status"] == "native"}
    assert native == {n for n, rule in dispatch_rules()["CPU"].items() if rule == "kernel"}


def test_a_key_without_kernels_has_what_is_composite() -> None:
    rows = scan("--dispatch-key", "PrivateUse1", "--only", "aten::*")
    assert not [n for n, row in rows.items() if row["status"] == "native"]
    assert rows["aten::softmax.int"]["status"] == "decomposed"
    assert rows["aten::mm.out"]["reason"] == "no-registration"


@needs_table
def test_a_generic_kernel_that_ends_nowhere_is_no_coverage() -> None:
    """A structured operator's generic kernel calls its out= form."""
    rows = scan("--dispatch-key", "PrivateUse1", "--only", "aten::mm*")
    assert rows["aten::mm"]["reason"] == "leaf-missing"
    assert rows["aten::mm"]["missing"] == ["aten::mm.out"]


@needs_table
@pytest.mark.skipif(torch.version.cuda is not None, reason="this build has CUDA's kernels")
def test_the_table_stands_for_keys_that_this_build_lacks() -> None:
    rows = scan("--dispatch-key", "CUDA")
    for name in ("aten::mm", "aten::mm.out", "aten::add.Tensor", "aten::add_.Tensor", "aten::sin_"):
        assert rows[name]["status"] == "native", name
        assert rows[name]["evidence"]["sources"] == ["listed in the release's operator table"]
    assert rows["aten::mkldnn_linear"]["reason"] == "no-registration"
    assert rows["aten::mkldnn_linear.out"]["missing"] == ["aten::mkldnn_linear"]


@needs_table
@pytest.mark.parametrize("key", ["CPU", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU"])
def test_the_table_agrees_with_this_build(key: str) -> None:
    """Everything the table lists for a key of the CPU is registered, so that it can be trusted for other keys."""
    assert TABLE is not None
    registered = {n for n, rule in dispatch_rules()[key].items() if rule == "kernel" and n.startswith("aten::")}
    listed = TABLE.listed(key)
    assert listed
    assert not listed - registered
    assert {n for n in registered - listed if not n.startswith("aten::quantized_")} == set()


def test_the_table_resolves_structured_operators() -> None:
    entries = [
        {"func": "f(Tensor x) -> Tensor", "structured_delegate": "f.out", "dispatch": {"SparseCPU": "f_sparse"}},
        {"func": "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "structured": True, "dispatch": {"CPU, MPS": "f_out", "QuantizedCPU": "f_q"}},
        {"func": "g_(Tensor(a!) x) -> Tensor(a!)", "autogen": "g, g.out"},
    ]  # fmt: skip
    table = OperatorTable.of(entries, frozenset({"CPU", "MPS"}))
    assert table.keys["aten::f"] == {"CPU", "MPS", "SparseCPU"}
    assert table.delegates == {"aten::f": "aten::f.out"}
    assert table.generated == {"aten::g": "aten::g_", "aten::g.out": "aten::g"}


def test_two_subjects_side_by_side(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    run = CliRunner().invoke
    options = ["--only", "aten::mm*", "--format", "json"]
    assert run(coverage, ["--dispatch-key", "PrivateUse1", *options, "--output", str(first)]).exit_code == 0
    assert run(coverage, ["--dispatch-key", "CPU", *options, "--output", str(second)]).exit_code == 0
    shown = run(coverage, ["--compare", str(first), "--compare", str(second)])
    assert "dispatch key PrivateUse1 on torch" in shown.stdout
    assert "better verdict on dispatch key CPU" in shown.stdout
    assert "aten::mm  none → native" in shown.stdout
    page = run(coverage, ["--compare", str(first), "--compare", str(second), "--format", "html"])
    assert "dispatch key PrivateUse1 on PyTorch" in page.stdout
    live = run(coverage, ["--dispatch-key", "CPU", "--only", "aten::mm*", "--compare", str(first)])
    assert "dispatch key PrivateUse1 on torch" in live.stdout


def test_the_gate_holds_for_dispatch_keys(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run = CliRunner().invoke
    options = ["--only", "aten::mm*"]
    made = run(coverage, ["--dispatch-key", "CPU", *options, "--format", "json", "--output", str(baseline)])
    assert made.exit_code == 0
    assert run(coverage, ["--dispatch-key", "CPU", *options, "--baseline", str(baseline)]).exit_code == 0
    worse = run(coverage, ["--dispatch-key", "PrivateUse1", *options, "--baseline", str(baseline)])
    assert worse.exit_code == 1
    assert "aten::mm: worse: native -> none" in worse.stderr


def test_the_workflow_example_runs_commands_that_exist() -> None:
    """Every `bringup coverage` of the example parses."""
    text = (Path(__file__).parent.parent / "examples" / "github-actions.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["coverage"]
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines() if "bringup coverage" in line]
    assert len(lines) == 4
    assert any("--baseline" in line for line in lines)
    for line in lines:
        words = shlex.split(line.partition(" >> ")[0].replace("$SCAN", job["env"]["SCAN"]))
        known = {o for p in coverage.params for o in (*p.opts, *p.secondary_opts)}
        assert {w for w in words if w.startswith("--")} <= known, line
    assert {"actions/cache@v4", "actions/upload-artifact@v4"} <= {step.get("uses") for step in job["steps"]}
