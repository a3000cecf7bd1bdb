"""Calls of single overloads: eager accepts them, they are the same in every run, and they are kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from bringup.errors import OptionError
from bringup_coverage.calls import Recipe
from bringup_coverage.calls import index as index_module
from bringup_coverage.calls.__main__ import main
from bringup_coverage.calls.build import build
from bringup_coverage.calls.cache import cache_path, load, save
from bringup_coverage.calls.dtypes import converted
from bringup_coverage.calls.eager import run
from bringup_coverage.calls.index import from_found
from bringup_coverage.calls.plain import NotPlain, from_plain, to_plain
from bringup_coverage.calls.recipe import fresh, tensors_of
from bringup_coverage.calls.rows import ROWS
from bringup_coverage.calls.schema import signature
from bringup_coverage.calls.share import share, special, text
from bringup_coverage.calls.shipped import shipped, still_accepted
from bringup_coverage.calls.sources import Found

FORWARD = ("add.Tensor", "mm", "softmax.int", "sum.dim_IntList", "index_select", "where.self", "topk", "empty_like")
BACKWARD = ("_softmax_backward_data", "convolution_backward", "native_layer_norm_backward")
COMPOSITE = ("conv2d", "matmul", "linalg_norm", "absolute", "type_as", "lstm.input")
IN_PLACE = ("add_.Tensor", "relu_", "masked_fill_.Scalar", "index_put_", "_foreach_add_.Scalar")
OUT = ("add.out", "max.dim_max", "linalg_qr.out", "sum.IntList_out", "_foreach_add.Scalar_out")
SCALARS = ("add.Scalar", "bitwise_and.Scalar_Tensor", "special_xlogy.other_scalar_out", "greater.Scalar")
MADE = ("scatter.reduce", "stft", "_embedding_bag_dense_backward", "ctc_loss.IntList")
NAMES = tuple(f"aten::{n}" for n in FORWARD + BACKWARD + COMPOSITE + IN_PLACE + OUT + SCALARS + MADE)
NONE = ("aten::record_stream", "aten::_thnn_fused_lstm_cell")


@pytest.fixture(scope="module")
def entries() -> dict[str, Found]:
    """What is found for a few overloads of every kind."""
    functional = ["aten::max.dim", "aten::linalg_qr", "aten::bitwise_and.Tensor", "aten::special_xlogy.other_scalar"]
    return build(names=[*NAMES, *NONE, *functional, "aten::_foreach_add.Scalar"])


@pytest.fixture
def cached(entries: dict[str, Found], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The entries as the index of float32, in a cache folder of the test."""
    path = tmp_path / "calls.xz"
    save(entries, path)
    monkeypatch.setattr(index_module, "cache_path", lambda _: path)
    monkeypatch.setattr(index_module, "shipped", lambda _: {})
    monkeypatch.setattr(index_module, "registered_names", lambda _: list(entries))
    index_module.index.cache_clear()
    yield path
    index_module.index.cache_clear()


def described(recipe: Recipe) -> Any:
    """A recipe's arguments as text and bytes."""
    return to_plain(recipe.args, recipe.kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_eager_accepts_every_recipe(entries: dict[str, Found], name: str) -> None:
    """Forward, backward, composite, in-place, out=, scalar and synthesized overloads all have calls that run."""
    found = from_found(entries[name], "float32")
    assert found, entries[name].why
    for recipe in found:
        trial = run(recipe.overload, recipe.args, recipe.kwargs)
        assert trial.accepted, trial.error
        assert signature(name).bind(recipe.args, recipe.kwargs) is not None
        assert not any(t.requires_grad for t in tensors_of(recipe.args, recipe.kwargs))


@pytest.mark.parametrize("name", [f"aten::{n}" for n in IN_PLACE + OUT])
def test_what_writes_writes_to_copies_only(entries: dict[str, Found], name: str) -> None:
    """Running a recipe leaves the recipe as it was."""
    for recipe in from_found(entries[name], "float32"):
        before = described(recipe)
        args, kwargs = recipe.fresh()
        trial = run(name, args, kwargs)
        assert trial.accepted
        assert described(recipe) == before


def test_out_arguments_have_the_results_shape(entries: dict[str, Found]) -> None:
    """They are zeros of the size that eager gave them, not empty."""
    for recipe in from_found(entries["aten::max.dim_max"], "float32"):
        values, positions = recipe.kwargs["max"], recipe.kwargs["max_values"]
        assert values.shape == positions.shape
        assert positions.dtype is torch.int64


def test_sources_say_where_a_call_is_from(entries: dict[str, Found]) -> None:
    """Recorded where the dispatcher sees it, bound where it is a composite, from a relative, or made."""
    first = {name: entries[f"aten::{name}"].calls[0][1] for name in ("mm", "conv2d", SCALARS[2], "scatter.reduce")}
    assert first == {"mm": "opinfo", "conv2d": "binding", SCALARS[2]: "variant", "scatter.reduce": "synthesized"}


def test_two_builds_are_equal() -> None:
    """Nothing depends on the run: rows, recordings and searches are seeded."""
    some = ["aten::mm", "aten::add_.Tensor", "aten::stft"]
    assert build(names=some) == build(names=some)


def test_torch_is_left_as_it_was() -> None:
    """Random state, default dtype and gradient mode survive a call."""
    torch.manual_seed(3)
    before = torch.get_rng_state()
    run("aten::rand", ([3],), {})
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32


def test_the_cache_round_trips(cached: Path, entries: dict[str, Found]) -> None:
    """What is read is what was written, and recipes come from it."""
    assert load(cached) == entries
    assert [r.dtype for r in index_module.recipes("aten::mm", limit=2)] == ["float32"] * 2
    assert described(index_module.recipes("aten::mm")[0]) == entries["aten::mm"].calls[0][0]


def test_a_damaged_cache_is_built_anew(
    cached: Path, entries: dict[str, Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a file, and a file of something else."""
    whole = cached.read_bytes()
    built: list[str] = []

    def again(dtype: str, **_: Any) -> dict[str, Found]:
        built.append(dtype)
        return entries

    monkeypatch.setattr(index_module, "build", again)
    for damage in (whole[: len(whole) // 2], b"not a file of torch", b""):
        cached.write_bytes(damage)
        index_module.index.cache_clear()
        assert index_module.recipes("aten::mm")
        assert load(cached) == entries
    assert built == ["float32"] * 3


def test_the_cache_is_of_one_release_and_one_source() -> None:
    """The file's name has the release and a hash of the rules."""
    assert torch.__version__ in cache_path("float32").name
    assert cache_path("float32") != cache_path("bfloat16")


@pytest.mark.parametrize("name", NONE)
def test_why_none_is_a_sentence(cached: Path, name: str) -> None:
    """An overload without calls says why."""
    assert index_module.recipes(name) == []
    why = index_module.why_none(name)
    assert why[0].isupper()
    assert why.endswith(".")
    assert "\n" not in why


def test_unknown_names_are_errors(cached: Path) -> None:
    """Neither an operator nor a dtype that torch lacks has an empty list."""
    with pytest.raises(KeyError, match="aten::nonsense"):
        index_module.recipes("aten::nonsense")
    with pytest.raises(OptionError, match="float33"):
        index_module.recipes("aten::mm", "float33")


def test_other_dtypes_follow_float32(entries: dict[str, Found]) -> None:
    """Floating tensors change, indices stay."""
    names = ["aten::mm", "aten::index_select", "aten::relu_"]
    half = build("bfloat16", names=names, float32=entries)
    for name in names:
        for recipe in from_found(half[name], "bfloat16"):
            assert run(name, recipe.args, recipe.kwargs).accepted
            assert recipe.args[0].dtype is torch.bfloat16
    assert from_found(half["aten::index_select"], "bfloat16")[0].args[2].dtype in (torch.int64, torch.int32)


def test_integers_from_fractions_are_small() -> None:
    """No cast makes a value that nobody meant."""
    (call,) = converted((torch.tensor([0.1, math.nan, 300.0]), 2), {}, torch.int8)
    assert call[0][0].tolist() == [0, 0, 100]


def test_copies_keep_strides_and_shared_memory() -> None:
    """Two views of one storage are two views of one new storage."""
    base = torch.arange(12.0).reshape(3, 4)
    (whole, turned, bits), _ = fresh((base, base.t(), base.to(torch.complex64).conj()), {})
    assert turned.stride() == (1, 4)
    whole[0, 1] = 50
    assert turned[1, 0] == 50
    assert base[0, 1] == 1
    assert bits.is_conj()


def test_plain_form_round_trips() -> None:
    """Everything a recipe may hold."""
    args = (torch.ones(2, 3).t(), [1, None, 2.5, math.inf], 1 + 2j, torch.float16, torch.strided, torch.device("cpu"))
    back, kwargs = from_plain(to_plain(args, {"memory_format": torch.channels_last, "reduce": "sum"}))
    assert back[0].stride() == (1, 3)
    assert torch.equal(back[0], args[0])
    assert back[1:] == args[1:]
    assert kwargs == {"memory_format": torch.channels_last, "reduce": "sum"}
    with pytest.raises(NotPlain, match="sparse"):
        to_plain((torch.eye(2).to_sparse(),), {})


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_name_overloads(name: str) -> None:
    """A row whose operator torch has lost is a row to delete."""
    values = ROWS[name]()
    known = {p.name for p in signature(f"aten::{name}").parameters}
    assert set(values) <= known


def test_share_counts_kinds(entries: dict[str, Found]) -> None:
    """Sparse and vendor operators are counted apart."""
    assert special("aten::_sparse_addmm")
    assert special("aten::cudnn_convolution")
    assert not special("aten::add.Tensor")
    figures = share(entries)
    assert figures["overloads"] == len(entries)
    assert set(NONE) == set(figures["missing"])
    assert "aten::record_stream" in text(figures)


def test_the_command_prints_the_share(cached: Path) -> None:
    """As text and as plain data."""
    result = CliRunner().invoke(main, ["--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["with_calls"] >= len(NAMES)
    assert "all of aten" in CliRunner().invoke(main, []).output


def test_shipped_calls_are_accepted() -> None:
    """Every fortieth overload of what is shipped: eager takes its calls, and this torch has its schema."""
    found = shipped("float32")
    names = [n for n, f in found.items() if f.calls][::40]
    assert len(names) >= 50
    assert [n for n in names for r in from_found(found[n], "float32") if not run(n, r.args, r.kwargs).accepted] == []


def test_what_eager_refuses_is_taken_from_the_shipped(entries: dict[str, Found]) -> None:
    """On another release a call may have become wrong: it is left out, and with it an entry that keeps none."""
    good = entries["aten::mm"]
    bad = Found("aten::mm", ((to_plain((torch.ones(2, 3), torch.ones(2, 3)), {}), "opinfo"),))
    mixed = Found("aten::mm", good.calls + bad.calls)
    assert still_accepted({"aten::mm": mixed}, 1) == {"aten::mm": good}
    assert still_accepted({"aten::mm": bad}, 1) == {}


def test_a_new_overload_is_found_beside_the_shipped(
    entries: dict[str, Found], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the shipped calls lack is built, with what they have as its relatives, and kept."""
    old = {n: entries[n] for n in ("aten::mm", "aten::add.Tensor")}
    monkeypatch.setattr(index_module, "cache_path", lambda _: tmp_path / "beside.xz")
    monkeypatch.setattr(index_module, "shipped", lambda _: dict(old))
    monkeypatch.setattr(index_module, "registered_names", lambda _: [*old, "aten::add_.Tensor"])
    index_module.index.cache_clear()
    try:
        found = index_module.index("float32")
    finally:
        index_module.index.cache_clear()
    assert {n: found[n] for n in old} == old
    assert found["aten::add_.Tensor"].calls
    assert load(tmp_path / "beside.xz") == found
