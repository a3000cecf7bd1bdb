"""`bringup explain`: the tree with its places, its collapsed siblings and circles, names, and programs that run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from bringup import Call, Engine, Kernel, OptionError, Target, find_target
from bringup.target.tree import Step, Way, tree_of
from bringup_coverage.commands.explain import explain
from bringup_coverage.explain import Question, answer, render
from bringup_coverage.explain.nested import nested
from bringup_coverage.explain.question import meant
from bringup_coverage.places import place_of

aten = torch.ops.aten
F32 = frozenset({torch.float32})
X = torch.rand(3)


def thrice(x: torch.Tensor) -> torch.Tensor:
    """A decomposition of this file."""
    return aten.add.Tensor(aten.add.Tensor(aten.neg.default(aten.neg.default(x)), x), aten.neg.default(x))


def there(x: torch.Tensor) -> torch.Tensor:
    """Half of a circle."""
    return aten.cos.default(x)


def back(x: torch.Tensor) -> torch.Tensor:
    """The other half."""
    return aten.sin.default(x)


MADE = Target(
    "made",
    (Kernel("aten::add.Tensor", Engine.VECTOR, F32), Kernel("aten::neg", Engine.VECTOR, F32)),
    {aten.silu.default: thrice, aten.sin.default: there, aten.cos.default: back},
)


def shape(step: Step) -> Any:
    """Names and ways of a tree."""
    return step.call.name, step.way.value, [shape(s) for s in step.steps]


def test_tree_of_a_decomposition() -> None:
    """Every call that the entry makes, in order."""
    add, neg = ("aten::add.Tensor", "kernel", []), ("aten::neg", "kernel", [])
    tree = tree_of(MADE, Call(aten.silu.default, (X,)))
    assert tree.whole
    assert shape(tree.root) == ("aten::silu", "table", [neg, neg, add, neg, add])


def test_tree_leaves_are_the_verdict() -> None:
    """The kernels of the tree are those of the verdict, on the real target."""
    target = find_target("sim").with_options(optional_kernels=False)
    for overload, args in ((aten.gelu.default, (X,)), (aten.var.correction, (X,)), (aten.addcmul_.default, (X, X, X))):
        call = Call(overload, args)
        leaves = {s.call.name for s in tree_of(target, call).root.walk() if s.way is Way.KERNEL}
        assert tuple(sorted(leaves)) == target.verdict(call).through


def test_what_writes_goes_through_its_functional_form() -> None:
    """An in-place call names the operator that stands for it."""
    node = nested(tree_of(MADE, Call(aten.add_.Tensor, (X.clone(), X))).root, MADE)
    assert (node["way"], node["form"]) == ("functionalized", "aten::add.Tensor")


def test_a_composite_comes_apart_above_the_device() -> None:
    """No table is asked for an operator that PyTorch makes of others."""
    assert tree_of(MADE, Call(aten.negative.default, (X,))).root.way is Way.PYTORCH


def test_what_nothing_depends_on_is_not_in_the_tree() -> None:
    """A call whose result is dropped is no part of the operator."""
    target = Target(
        "drops", MADE.kernels, {aten.silu.default: lambda x: (aten.add.Tensor(x, x), aten.neg.default(x))[1]}
    )
    (leaf,) = tree_of(target, Call(aten.silu.default, (X,))).root.steps
    assert leaf.call.name == "aten::neg"


def test_equal_siblings_are_one() -> None:
    """A tree is drawn with counts."""
    node = nested(tree_of(MADE, Call(aten.silu.default, (X,))).root, MADE)
    assert [(s["operator"], s["count"]) for s in node["steps"]] == [("aten::neg", 3), ("aten::add.Tensor", 2)]


def test_a_circle_is_drawn_once() -> None:
    """An operator that its own decomposition leads back to is missing, with that reason."""
    node = nested(tree_of(MADE, Call(aten.sin.default, (X,))).root, MADE)
    (cos,) = node["steps"]
    (sin,) = cos["steps"]
    assert (sin["operator"], sin["way"], sin["steps"]) == ("aten::sin", "missing", [])
    assert "leads back" in sin["detail"]


def test_places() -> None:
    """Wrappers are looked through; the line is where the function begins."""
    import functools

    @functools.wraps(thrice)
    def wrapper(*args: Any) -> Any:
        return thrice(*args)

    place = place_of(functools.partial(wrapper))
    assert place == place_of(thrice)
    assert (place.origin, place.function, place.line) == ("user", "thrice", thrice.__code__.co_firstlineno)
    sim = find_target("sim").decompositions
    theirs, ours = place_of(sim[aten.silu.default]), place_of(sim[aten.addmm.default])
    assert (theirs.origin, theirs.file) == ("pytorch", "torch/_decomp/decompositions.py")
    assert (ours.origin, ours.file) == ("bringup", "bringup/decompositions/linalg_products.py")
    assert place_of(torch.neg).line == 0


def test_answer_is_plain_data_with_all_parts() -> None:
    """Schema, kind, tier, verdicts by dtype and with gradients, tree, decompositions, program."""
    found = answer("aten::silu", Question(optional_kernels=False))
    assert json.loads(json.dumps(found)) == found
    assert (found["kind"], found["tier"]) == ("functional", "portable")
    assert found["verdict"]["through"] == ["aten::mul.Tensor", "aten::sigmoid"]
    assert found["gradient"]["status"] == "decomposed"
    assert found["dtypes"]["bfloat16"]["status"] == "decomposed"
    assert found["dtypes"]["float16"]["status"] == "decomposed"
    assert found["decompositions"][0]["operator"] == "aten::silu"
    text = render(found)
    assert "\x1b" not in text
    assert "torch/_decomp/decompositions.py:" in text
    assert "[vector]" in text


def test_missing_leaves_are_marked(tmp_path: Path) -> None:
    """A target that lacks a kernel shows where, and why."""
    file = tmp_path / "small.toml"
    file.write_text('name = "small"\n[kernels]\nvector = ["aten::mul.Tensor"]\n', encoding="utf-8")
    result = CliRunner().invoke(explain, ["silu", "--target", str(file)])
    assert result.exit_code == 0
    assert "aten::sigmoid" in result.output
    assert "MISSING" in result.output


def test_a_kernel_that_no_graph_reaches_is_said(tmp_path: Path) -> None:
    """A composite operator comes apart before its kernel is asked; the answer says so."""
    file = tmp_path / "small.toml"
    file.write_text('name = "small"\n[kernels]\nmatrix = ["aten::linear"]\n', encoding="utf-8")
    assert answer("aten::linear", Question(str(file)))["bypassed"]


def test_names() -> None:
    """A default overload, all overloads of an operator without one, and a name that is none."""
    assert [o.name for o in meant("silu")] == ["aten::silu"]
    assert [o.name for o in meant("aten::silu.default")] == ["aten::silu"]
    assert {"aten::add.Tensor", "aten::add.Scalar"} <= {o.name for o in meant("aten::add")}
    with pytest.raises(OptionError, match="close to it are aten::silu,"):
        meant("aten::sillu")


def test_an_operator_without_default_lists_its_overloads() -> None:
    """Each with a verdict."""
    found = answer("aten::add", Question())
    assert {r["operator"]: r["verdict"]["status"] for r in found["overloads"]}["aten::add.Tensor"] == "native"
    assert "aten::add.Scalar" in render(found)


def test_bad_questions_are_one_sentence() -> None:
    """Unknown dtypes and calls that are not recorded."""
    with pytest.raises(OptionError, match="unknown dtype 'float33'"):
        Question(dtype="float33")
    with pytest.raises(OptionError, match="no --call 99 of aten::silu"):
        answer("aten::silu", Question(number=99))


def test_an_operator_without_calls_has_facts() -> None:
    """What is not recorded has no verdict, and says why."""
    found = answer("prims::sin", Question())
    assert found["call"] is None
    assert "aten's operators only" in render(found)


@pytest.mark.parametrize(
    "name",
    [
        "aten::silu",
        "aten::addcmul_",
        "aten::index_put",
        "aten::linalg_cholesky",
        "aten::rand",
        "aten::cat.out",
        "aten::embedding_bag",
        "aten::dropout",
        "aten::empty_like",
        "aten::split.Tensor",
    ],
)
def test_programs_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed program compares the target with eager, and prints what ran."""
    text = answer(name, Question(optional_kernels=False))["snippet"]
    exec(compile(text, name, "exec"), {})
    assert capsys.readouterr().out


def test_a_program_that_is_wrong_fails() -> None:
    """The program compares: another operator's result does not pass."""
    text = answer("aten::silu", Question())["snippet"]
    wrong = text.replace("lambda *args, **kwargs: operator(*args, **kwargs)", "lambda x: operator(x) + 1")
    assert wrong != text
    with pytest.raises(AssertionError):
        exec(compile(wrong, "wrong", "exec"), {})


def test_a_program_runs_by_itself() -> None:
    """In a fresh interpreter, as it is printed."""
    text = answer("aten::upsample_bicubic2d", Question())["snippet"]
    result = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_what_pytorch_decomposes_in_python_is_said_to_come_apart_above() -> None:
    """The root of the tree is PyTorch's, not functionalization's: the operator writes to nothing."""
    found = answer("aten::upsample_bilinear2d", Question())
    assert found["tree"]["way"] == "pytorch"
