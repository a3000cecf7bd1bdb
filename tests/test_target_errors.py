"""What a user writes wrongly in a target of their own is one sentence that names the place."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import bringup
from bringup import Call, Engine, Kernel, OptionError, Target, TargetError, compile_function, find_target

F32 = frozenset({torch.float32})
NEG = Kernel("aten::neg", Engine.VECTOR, F32)


def target(*kernels: Kernel, **more: Any) -> Target:
    """A target with the decompositions of ``sim``."""
    return Target("mine", kernels or (NEG,), find_target("sim").decompositions, **more)


def compiled(made: Target, function: Callable[..., Any] = torch.neg, *tensors: torch.Tensor) -> Any:
    """Compile and run without fallback."""
    options = {"target": made, "fallback": "error"}
    return compile_function(function, options=options)(*(tensors or (torch.ones(2, 3),)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Kernel("mm", Engine.MATRIX, F32), "write the overload as a string with its namespace"),
        (lambda: Kernel(torch.ops.aten.mm.default, Engine.MATRIX, F32), "write the overload as a string"),  # type: ignore[arg-type]
        (lambda: Kernel("aten::mm", "matrix", F32), "it must be one of Engine.MATRIX"),  # type: ignore[arg-type]
        (lambda: Kernel("aten::mm", Engine.MATRIX, {"float32"}), "a set of dtypes of torch"),  # type: ignore[arg-type]
        (lambda: Kernel("aten::mm", Engine.MATRIX, torch.float32), "a set of dtypes of torch"),  # type: ignore[arg-type]
        (lambda: Kernel("aten::mm", Engine.MATRIX, F32, check=True), "check of the kernel of aten::mm"),  # type: ignore[arg-type]
        (lambda: target(NEG, NEG), "two kernels for aten::neg"),
        (lambda: target(Kernel("aten::nosuch", Engine.VECTOR, F32)), "'aten::nosuch', which torch"),
        (lambda: target(Kernel("aten::add", Engine.VECTOR, F32)), "its overloads are aten::add.Tensor"),
        (lambda: target("aten::neg"), "a row is a bringup.Kernel"),  # type: ignore[arg-type]
        (lambda: target(lowerings={"aten::nosuch": lambda i: i}), "lowers 'aten::nosuch'"),
        (lambda: target(lowerings={"aten::neg": None}), "which cannot be called"),
        (lambda: target(passes=lambda gm: gm), "it must be a tuple of functions"),
        (lambda: target(runtime="portable"), "it must be a tuple of functions"),
        (lambda: Target("mine", (NEG,), {"aten::silu": torch.sigmoid}), "a key is an overload"),  # type: ignore[dict-item]
    ],
)
def test_a_wrong_table_is_said_when_it_is_made(make: Callable[[], Any], said: str) -> None:
    """Before anything is compiled."""
    with pytest.raises(TargetError, match=said):
        make()


def test_a_check_that_gives_no_sentence_is_named() -> None:
    """A check says why not, or None."""
    made = target(Kernel("aten::neg", Engine.VECTOR, F32, check=lambda call: True))  # type: ignore[arg-type, return-value]
    with pytest.raises(
        TargetError, match=r"the check of the kernel of aten::neg gave True, on aten::neg\(float32\[2, 3\]\)"
    ):
        compiled(made)
    with pytest.raises(TargetError, match="must give None where the kernel takes"):
        made.verdict(Call(torch.ops.aten.neg.default, (torch.ones(2),)))


def test_a_check_that_raises_is_named() -> None:
    """With the call that it raised on."""
    made = target(Kernel("aten::neg", Engine.VECTOR, F32, check=lambda call: call.args[7]))
    for ask in (lambda: compiled(made), lambda: made.verdict(Call(torch.ops.aten.negative.default, (torch.ones(2),)))):
        with pytest.raises(TargetError, match="the check of the kernel of aten::neg raised IndexError"):
            ask()


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ({"passes": (lambda gm: None,)}, "a pass gives the graph module"),
        ({"lowerings": {"aten::neg": lambda instruction: None}}, "the lowering of aten::neg gave None"),
        ({"runtime": lambda program: None}, "the runtime of target 'mine' gave None"),
    ],
)
def test_a_hook_that_gives_nothing_is_named(hook: dict[str, Any], said: str) -> None:
    """Rather than failing later, somewhere else."""
    with pytest.raises(TargetError, match=said):
        compiled(target(**hook))


@pytest.mark.parametrize(
    ("implementation", "said"),
    [
        (lambda x: (-x).double(), r"gave float64\[2, 3\] where the operator gives float32\[2, 3\]"),
        (lambda x: -x[:1], r"gave float32\[1, 3\] where"),
        (lambda x: None, "gave None where"),
    ],
)
def test_an_implementation_is_held_to_its_operator(implementation: Any, said: str) -> None:
    """A wrong dtype or shape would otherwise show somewhere else, or not at all."""
    made = target(Kernel("aten::neg", Engine.VECTOR, F32, implementation=implementation))
    with pytest.raises(TargetError, match=f"the implementation of the kernel of aten::neg {said}"):
        compiled(made)


def test_an_implementation_that_fits_is_called_with_any_size() -> None:
    """With symbolic sizes too."""
    made = target(Kernel("aten::neg", Engine.VECTOR, F32, implementation=lambda x: 0 - x))
    negated = compile_function(torch.neg, options={"target": made, "fallback": "error"}, dynamic=True)
    for size in (2, 5):
        assert torch.equal(negated(torch.ones(size, 3)), -torch.ones(size, 3))


def test_a_decomposition_that_leads_back_is_said_to() -> None:
    """It is there, but helps nobody."""
    back = Target("back", (NEG,), {torch.ops.aten.exp.default: lambda x: torch.exp(x)})
    assert "leads back to it" in back.verdict(Call(torch.ops.aten.exp.default, (torch.ones(2),))).detail
    square = torch.ones(2, 2)
    assert "no decomposition into" in back.verdict(Call(torch.ops.aten.mm.default, (square, square))).detail


def test_an_empty_dump_is_no_path() -> None:
    """It would be the current folder."""
    with pytest.raises(bringup.OptionError, match="option 'dump' is ''"):
        compile_function(torch.neg, options={"dump": ""})


def test_partitioning_takes_graphs_of_aten() -> None:
    """A graph as Dynamo or symbolic tracing makes it has neither overloads nor shapes."""
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    with pytest.raises(bringup.OptionError, match="takes a functional ATen graph"):
        bringup.partition_graph(traced, find_target("sim"))


def test_explain_takes_a_function() -> None:
    """Anything else is one sentence."""
    with pytest.raises(bringup.OptionError, match="takes a function or a module"):
        bringup.explain(3)  # type: ignore[arg-type]


def test_the_example_of_a_target_with_every_hook_runs() -> None:
    """It is what the README shows."""
    example = Path(__file__).parent.parent / "examples" / "own_target.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"largest difference from eager: \d.\de-0[6-9]|0\.0e\+00", done.stdout)
    assert "running 5 instructions of inference" in done.stdout
    assert "needs an even inner size, not 7" in done.stdout


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no licence')", r"badchip.py, line 1 raised RuntimeError: no licence"),
        ("x = = 1", r"badchip.py, line 1: SyntaxError"),
        ("import sys; sys.exit(5)", r"badchip.py, line 1 raised SystemExit: 5"),
        ("def x():\n    return 1 / 0", r"badchip.py, line 2 raised ZeroDivisionError"),
    ],
)
def test_a_module_that_does_not_load_is_named(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the line, whatever it raises."""
    (tmp_path / "badchip.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "badchip", raising=False)
    with pytest.raises(OptionError, match=f"target 'badchip:x' cannot be loaded: .*{said}"):
        find_target("badchip:x")


@pytest.mark.parametrize("spec", [":", ":x", ".x:y"])
def test_a_target_without_a_module_is_unknown(spec: str) -> None:
    """There is nothing to import."""
    with pytest.raises(OptionError, match="unknown target"):
        find_target(spec)


@pytest.mark.parametrize(
    ("line", "said"), [("name = 3", "name is 3; it must be a text"), ("dtypes = []", "dtypes is empty")]
)
def test_a_target_file_with_a_wrong_value(line: str, said: str, tmp_path: Path) -> None:
    """One sentence with the file and the key."""
    path = tmp_path / "chip.toml"
    path.write_text(f'{line}\n[kernels]\nvector = ["aten::neg"]\n')
    with pytest.raises(OptionError, match=f"chip.toml: {said}"):
        find_target(str(path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_an_output_without_room_is_one_sentence() -> None:
    """Not a traceback, and not two."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bringup", "kernels"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "bringup: the output cannot be written: No space left on device\n")
