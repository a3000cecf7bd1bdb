"""The contract: registration, options, report, policy, memory, dump, explain."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import bringup


def mlp() -> nn.Module:
    """A small model with weights, a norm and an activation."""
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


@torch.library.custom_op("bringup_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """An operator that no target knows."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def test_found_without_an_import() -> None:
    """`torch.compile(m, backend="bringup")` works in a process that never imports bringup itself."""
    code = (
        "import torch\nassert 'bringup' in torch._dynamo.list_backends()\n"
        "print(torch.compile(lambda x: x + 1, backend='bringup')(torch.ones(2)).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[2.0, 2.0]"


@pytest.mark.parametrize("optional", [True, False])
def test_inference_and_training_match_eager(optional: bool) -> None:
    """Outputs and gradients are eager's, with and without the fused kernels, and nothing falls back."""
    model, x = mlp(), torch.randn(3, 8)
    compiled = torch.compile(model, backend="bringup", options={"optional_kernels": optional, "fallback": "error"})
    torch.testing.assert_close(compiled(x), model(x))
    model(x).sum().backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    compiled(x).sum().backward()
    torch.testing.assert_close([p.grad for p in model.parameters()], expected)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x))
    assert bringup.report().fallbacks == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallbck": "error"}, r"unknown option 'fallbck'; did you mean 'fallback'\? \(known: target, device"),
        ({"fallback": "never"}, "it takes 'host' or 'error'"),
        ({"optional_kernels": "yes"}, "it takes True or False"),
        ({"device": "h1000"}, r"unknown device 'h1000'; did you mean 'h100'\?"),
        ({"target": "simm"}, "built in is 'sim'"),
        ({"target": "no_such_module:x"}, "cannot be loaded"),
    ],
)
def test_bad_options_say_what_to_do(options: dict[str, object], message: str) -> None:
    """One clear sentence, naming the option, what was found and what it takes."""
    with pytest.raises(Exception, match=message):
        torch.compile(mlp(), backend="bringup", options=options)(torch.ones(1, 8))


def test_report_and_recording() -> None:
    """The report lists programs, kernels and bytes as plain data; a recording sees only its block."""
    compiled = torch.compile(mlp(), backend="bringup")
    with torch.no_grad():
        compiled(torch.ones(2, 8))
    with bringup.recording() as recorded, torch.no_grad():
        torch.compile(lambda x: x @ x, backend="bringup")(torch.ones(2, 2))
    assert [p.name for p in recorded.programs] == ["inference"]
    assert recorded.kernels == {"aten::mm": 1}
    plain = bringup.report().to_dict()
    assert set(plain) == {"programs", "kernels", "fallbacks", "bytes_resident", "bytes_peak"}
    assert plain["bytes_resident"] == sum(p.nbytes for p in compiled.parameters())
    assert plain["bytes_peak"] > plain["bytes_resident"]
    assert len(plain["programs"]) == 2
    bringup.reset()
    assert bringup.report().to_dict()["programs"] == []


def test_peak_is_the_liveness_of_the_program() -> None:
    """Input, two intermediates alive at once; views cost nothing."""
    with bringup.recording() as recorded:
        torch.compile(lambda x: (x.exp().view(-1) + 1).sum(), backend="bringup")(torch.ones(256))
    assert recorded.bytes_resident == 0
    assert recorded.bytes_peak == 3 * 1024


def test_fallback_to_the_host_is_reported_with_its_reason() -> None:
    """A custom operator runs on the host, is warned of, counted, and has the user's line."""
    compiled = torch.compile(lambda x: twice(x + 1) * 3, backend="bringup")
    from bringup.compiler import _SAID

    _SAID.clear()
    with pytest.warns(bringup.FallbackWarning, match="bringup_tests::twice"):
        assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 12.0))
    compiled(torch.ones(2))
    (row,) = bringup.report().fallbacks
    assert (row["operator"], row["reason"], row["count"], row["runs"]) == (
        "bringup_tests::twice",
        "custom-operator",
        1,
        2,
    )
    assert row["bytes_crossing"] == 16
    assert "test_backend.py" in row["source"]


def test_fallback_error_names_everything() -> None:
    """Operator, dtype and shape, schema, the user's line, why, what to do."""
    compiled = torch.compile(lambda x: twice(x), backend="bringup", options={"fallback": "error"})
    with pytest.raises(Exception, match=r"cannot run bringup_tests::twice\(float32\[2\]\)") as caught:
        compiled(torch.ones(2))
    for part in ("schema: bringup_tests::twice(Tensor x) -> Tensor", "test_backend.py", "why:", "to do:"):
        assert part in str(caught.value)


def test_capacity_is_enforced_with_the_ledger(tmp_path: Path) -> None:
    """A program that does not fit is refused, and the message shows what is resident and what is short."""
    profile = tmp_path / "tiny.toml"
    profile.write_text('description = "a tiny device"\nmemory_bytes = 4096\n')
    options = {"device": str(profile)}
    small = torch.compile(lambda x: x + 1, backend="bringup", options=options)
    assert small(torch.ones(8)).sum() == 16
    big = torch.compile(lambda x: (x + 1) * 2, backend="bringup", options=options, dynamic=False)
    with pytest.raises(bringup.DeviceMemoryError, match=r"capacity: +4,096 bytes"):
        big(torch.ones(1024))


def test_dump_writes_programs(tmp_path: Path) -> None:
    """`dump` names a folder or a file."""
    torch.compile(torch.sin, backend="bringup", options={"dump": str(tmp_path / "programs")})(torch.ones(2))
    (written,) = (tmp_path / "programs").iterdir()
    assert "vector aten::sin(%" in written.read_text()
    torch._dynamo.reset()
    torch.compile(torch.cos, backend="bringup", options={"dump": str(tmp_path / "all.txt")})(torch.ones(2))
    assert "vector aten::cos(%" in (tmp_path / "all.txt").read_text()


def test_explain_shows_the_source_line() -> None:
    """Each instruction carries the user's line."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x.sin() * 2

    text = bringup.explain(scaled, torch.ones(2))
    assert "vector aten::sin(%" in text
    assert "test_backend.py" in text
    assert "return x.sin() * 2" in text


def test_threads_do_not_share_values() -> None:
    """The same compiled function runs in several threads at once."""
    compiled = torch.compile(lambda x: (x @ x).relu().sum(), backend="bringup")
    inputs = [torch.full((16, 16), float(i)) for i in range(8)]
    expected = [float((x @ x).relu().sum()) for x in inputs]
    compiled(inputs[0])
    found: dict[int, float] = {}

    def work(i: int) -> None:
        for _ in range(20):
            found[i] = float(compiled(inputs[i]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [found[i] for i in range(8)] == expected


def test_ten_thousand_calls_leak_nothing() -> None:
    """No tensors, and no records, pile up."""
    compiled = torch.compile(lambda x: (x + 1).relu(), backend="bringup")
    x = torch.ones(4)
    compiled(x)
    gc.collect()

    def alive() -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(type(o) is torch.Tensor for o in gc.get_objects())

    before = alive()
    for _ in range(10_000):
        compiled(x)
    gc.collect()
    assert alive() <= before + 2
    assert len(bringup.report().programs) == 1


def test_weights_are_shared_with_the_module() -> None:
    """In-place optimizer steps, load_state_dict and .data writes are seen by the compiled module."""
    model, x = mlp(), torch.randn(2, 8)
    compiled = torch.compile(model, backend="bringup")
    with torch.no_grad():
        compiled(x)
        model[0].weight.mul_(2)
        torch.testing.assert_close(compiled(x), model(x))
        model.load_state_dict({k: v + 0.5 for k, v in model.state_dict().items()})
        torch.testing.assert_close(compiled(x), model(x))
        model[3].bias.data = torch.ones(4)
        torch.testing.assert_close(compiled(x), model(x))


def test_data_of_an_input_is_replaced() -> None:
    """`x.data = y` takes y's storage in the program too, whatever operator the release makes of it."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.data = y * 2
        return x + 1

    x, y = torch.ones(3), torch.full((3,), 5.0)
    compiled = torch.compile(function, backend="bringup", fullgraph=True, options={"fallback": "error"})
    assert torch.equal(compiled(x, y), y * 2 + 1)
    assert torch.equal(x, y * 2)
    set_ = bringup.Call(torch.ops.aten.set_.source_Tensor, (torch.ones(3), torch.ones(3)), {})
    assert bringup.find_target("sim").verdict(set_).status is bringup.Status.NATIVE


def test_own_decomposition_pass_lowering_and_runtime() -> None:
    """The hooks of a backend author: each is used, and the result is still eager's."""
    from dataclasses import replace

    from bringup.engine import build

    seen: list[str] = []
    table = bringup.Decompositions("mine")

    @table.register("aten::silu")
    def silu(x: torch.Tensor) -> torch.Tensor:
        seen.append("decomposition")
        return x * x.sigmoid()

    def graph_pass(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        seen.append("pass")
        return gm

    def lowering(instruction: bringup.Instruction) -> bringup.Instruction:
        seen.append("lowering")
        return replace(instruction, engine=bringup.Engine.HOST)

    def runtime(program: bringup.Program) -> object:
        seen.append("runtime")
        return build(program)

    sim = bringup.find_target("sim").with_options(optional_kernels=False).with_decompositions(table)
    target = replace(sim, passes=(graph_pass,), lowerings={"aten::sigmoid": lowering}, runtime=runtime)
    x = torch.randn(5)
    options = {"target": target, "optional_kernels": False}
    torch.testing.assert_close(
        torch.compile(lambda x: torch.nn.functional.silu(x), backend="bringup", options=options)(x),
        torch.nn.functional.silu(x),
    )
    assert seen == ["decomposition", "pass", "lowering", "runtime"]


def test_partition_keeps_pieces_large() -> None:
    """One unsupported operator in a chain leaves two pieces, with the bytes that cross."""
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda x: twice(torch.relu(x) + 1).exp().sum(), tracing_mode="fake")(torch.randn(4))
    cut = bringup.partition_graph(graph, bringup.find_target("sim"))
    assert sorted(p.operators for p in cut.pieces) == [2, 2]
    assert [h.overload for h in cut.host] == ["bringup_tests::twice"]
    assert cut.crossing_bytes == 16 + 16 + 16 + 4
