"""Operator snapshots: known truths of 16 releases, the text against torchgen and the runtime, PyTorch's own compatibility rule."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torchgen
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup_codegen.snapshots import Schema, Snapshot, SnapshotError, compare, load, read, releases, write
from bringup_codegen.snapshots.build import build
from bringup_codegen.snapshots.compatible import backward_compatible
from bringup_codegen.snapshots.sources import installed_sources

OVERLOADS = {  # registered in each release, without those that are registered outside of native_functions.yaml
    "2.0.1": 2977,
    "2.4.1": 3118,
    "2.8.0": 3164,
    "2.10.0": 3184,
    "2.12.1": 3216,
    "2.13.0": 3101,
    "2.14.1": 3103,
    "2.15.0": 3110,
}
MINORS = [f"2.{n}" for n in range(16)]
DERIVED = {"pt2_compliant_tag", "inplace", "out", "generated"}
INSTALLED = torch.__version__.partition("+")[0]
kept = cache(load)


@cache
def installed() -> Snapshot:
    """The text of the torch that runs."""
    return build(installed_sources())


def test_every_minor_release_ships() -> None:
    """One patch release of each."""
    assert [r.rpartition(".")[0] for r in releases()] == MINORS


@pytest.mark.parametrize("release", OVERLOADS)
def test_how_many_overloads(release: str) -> None:
    """As the runtimes of those releases register."""
    assert len(kept(release).operators) == OVERLOADS[release]


def test_composites_and_the_core_set_of_2_13() -> None:
    """Counts of the build."""
    operators = kept("2.13.0").operators.values()
    assert sum(o.composite == "implicit" for o in operators) == 743
    assert sum(o.composite == "explicit" for o in operators) == 1061
    assert sum("core" in o.tags for o in operators) == 193


def test_2_13_removes_dimension_names() -> None:
    """114 overloads with Dimname and two that need them; one is new; no schema changes."""
    found = compare(kept("2.12.1"), kept("2.13.0"))
    assert [o.name for o in found.added] == ["_foreach_mm"]
    assert sum("Dimname" in o.schema for o in found.removed) == 114
    assert {o.name for o in found.removed if "Dimname" not in o.schema} == {"align_as", "align_tensors"}
    assert found.schemas == ()


def test_2_14_adds_removes_breaks_and_gains_a_key() -> None:
    """Six are new, four gone, four schemas break, and 752 operators have a kernel for XPU."""
    found = compare(kept("2.13.0"), kept("2.14.1"))
    assert len(found.added) == 6
    assert {o.name for o in found.removed} == {"cholesky", "cholesky.out", "qr", "qr.Q"}
    breaking = {c.name for c in found.schemas if not c.compatible}
    assert breaking == {"_cdist_backward", "_cdist_backward.out", "_pdist_backward", "_pdist_backward.out"}
    assert [c.name for c in found.schemas if c.compatible] == ["_cudnn_attention_forward"]
    assert len(found.keys["XPU"].gained) == 752


def test_2_15_adds_seven() -> None:
    """And removes none."""
    found = compare(kept("2.14.1"), kept("2.15.0"))
    assert (len(found.added), len(found.removed), len(found.schemas)) == (7, 0, 0)


@pytest.mark.parametrize("release", [releases()[0], "2.13.0", releases()[-1]])
def test_texts_are_read_as_they_were_written(release: str) -> None:
    """Every stanza, every schema, and the same text again."""
    snapshot = kept(release)
    assert all(str(Schema.parse(o.schema)) == o.schema for o in snapshot.operators.values())
    again = read(write(snapshot), "again")
    assert dict(again.operators) == dict(snapshot.operators)
    assert (again.runtime, again.sources, again.git) == (snapshot.runtime, snapshot.sources, snapshot.git)


def test_the_text_says_what_torchgen_says() -> None:
    """Of the installed release: schemas with generated ones, composite flags, tags, structured, variants."""
    from torchgen.gen import parse_native_yaml

    folder = Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    expected = {str(f.func.name): _by_torchgen(f) for f in parsed.native_functions}
    found = {
        o.name: (o.schema, o.composite, set(o.tags), bool(o.structured), bool(o.generated), set(o.variants))
        for o in installed().operators.values()
    }
    assert found == expected


def _by_torchgen(function: Any) -> tuple[Any, ...]:
    composite = (
        "implicit"
        if function.has_composite_implicit_autograd_kernel
        else "explicit"
        if function.has_composite_explicit_autograd_kernel
        else "explicit_nonfunctional"
        if function.has_composite_explicit_autograd_non_functional_kernel
        else ""
    )
    structured = function.structured or function.structured_delegate is not None
    tags = set(function.tags) - DERIVED
    variants = {v.name for v in function.variants}
    return str(function.func), composite, tags, structured, "generated" in function.tags, variants


@pytest.mark.skipif(INSTALLED not in releases(), reason="no snapshot of the installed torch ships")
def test_the_shipped_text_is_the_installed_one() -> None:
    """Shipped snapshots come from macOS wheels: every fact is the same in the wheel that is installed here."""
    shipped, here = kept(INSTALLED), installed()
    assert dict(shipped.operators) == dict(here.operators)
    assert shipped.git == here.git
    assert shipped.sources == here.sources


TYPES = [
    "Tensor",
    "Tensor?",
    "Tensor[]",
    "Tensor?[]",
    "int",
    "int?",
    "SymInt",
    "SymInt?",
    "int[]",
    "int[2]",
    "int[1]?",
    "SymInt[]",
    "SymInt[2]",
    "float",
    "float?",
    "Scalar",
    "Scalar?",
    "Scalar[]",
    "bool",
    "bool?",
    "bool[3]",
    "str",
    "str?",
    "ScalarType",
    "ScalarType?",
    "Layout",
    "Device?",
    "MemoryFormat?",
    "Generator?",
    "Storage",
    "Stream",
]


def compatible_by_pytorch(old: str, new: str) -> bool:
    """What the runtime says."""
    return torch._C.parse_schema(new).is_backward_compatible_with(torch._C.parse_schema(old))


def test_compatible_types_are_pytorchs() -> None:
    """Each type for each other one, as an argument and as a return."""
    wrong = []
    for old, new in itertools.product(TYPES, TYPES):
        pairs = [(f"f({old} a) -> ()", f"f({new} a) -> ()"), (f"f() -> {old}", f"f() -> {new}")]
        for before, after in pairs:
            if backward_compatible(Schema.parse(before), Schema.parse(after)) != compatible_by_pytorch(before, after):
                wrong.append((before, after))
    assert not wrong


ARGUMENTS = st.sampled_from(
    [
        "Tensor {}",
        "Tensor? {}=None",
        "int {}",
        "int {}=1",
        "SymInt {}=1",
        "float {}=0.5",
        "int[2] {}=0",
        "int[2] {}=[0, 0]",
        "bool {}=True",
        "Tensor(a) {}",
        "str {}='x'",
    ]
)
OUTS = st.sampled_from(
    ["", "*, Tensor(a!) out", "*, Tensor(a!) out0, Tensor(b!) out1", "*, float p=1.0, Tensor(a!) out"]
)
SCHEMAS = st.tuples(
    st.lists(ARGUMENTS, max_size=3), OUTS, st.sampled_from(["Tensor", "(Tensor, Tensor)", "()", "Tensor r"])
)


def _schema(parts: tuple[list[str], str, str]) -> str:
    ordered = sorted(parts[0], key=lambda a: "=" in a)  # defaults last: the parser wants no other
    arguments = [a.format(f"x{i}") for i, a in enumerate(ordered)]
    return f"f({', '.join([*arguments, *([parts[1]] if parts[1] else [])])}) -> {parts[2]}"


@given(SCHEMAS, SCHEMAS)
@settings(max_examples=400, deadline=None)
def test_compatible_schemas_are_pytorchs(old: tuple[list[str], str, str], new: tuple[list[str], str, str]) -> None:
    """Random pairs, and random additions to one schema."""
    longer = (old[0] + new[0], old[1], old[2])
    for other in (new, longer):
        before, after = _schema(old), _schema(other)
        ours = backward_compatible(Schema.parse(before), Schema.parse(after))
        assert ours == compatible_by_pytorch(before, after), (before, after)


def test_compatible_schemas_of_all_releases_are_pytorchs() -> None:
    """Every schema that changed from one release to the next; this release's parser does not know dimension names."""
    checked = 0
    for older, newer in itertools.pairwise(releases()):
        for change in compare(kept(older), kept(newer)).schemas:
            if "Dimname" not in change.old + change.new:
                assert change.compatible == compatible_by_pytorch(f"aten::{change.old}", f"aten::{change.new}"), change
                checked += 1
    assert checked > 100


def test_runtime_and_text_agree() -> None:
    """Schemas, tags, composite flags and Python tables of the torch that runs: no difference."""
    from bringup_coverage.releases.runtime import differences, with_runtime

    assert list(differences(installed())) == []
    found = with_runtime(installed())
    assert "quantized_lstm.input" in found.runtime
    if INSTALLED in releases():
        assert kept(INSTALLED).runtime == found.runtime


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("add.Tensor", {"schema": "add.Tensor(Tensor self, Tensor other) -> Tensor"}, "has the schema"),
        ("add.Tensor", {"tags": ()}, "has the tags"),
        ("conv2d", {"composite": "explicit"}, "registered for Composite"),
        ("addcmul", {"decomposition": ""}, "in the Python table post_autograd"),
        ("mm", {"meta": ""}, "in the Python table meta"),
    ],
)
def test_a_difference_names_the_operator(name: str, change: dict[str, Any], said: str) -> None:
    """A text that is wrong in one fact is refused."""
    from bringup_coverage.releases.runtime import with_runtime

    operators = dict(installed().operators)
    operators[name] = replace(operators[name], **change)
    with pytest.raises(SnapshotError, match=rf"aten::{name} .*{said}"):
        with_runtime(replace(installed(), operators=operators))


def test_an_operator_that_is_not_registered_is_named() -> None:
    """It stands in the text only."""
    from bringup_coverage.releases.runtime import with_runtime

    operators = dict(installed().operators)
    operators["nosuch"] = replace(operators["mm"], name="nosuch")
    with pytest.raises(SnapshotError, match="aten::nosuch is in the text and not registered"):
        with_runtime(replace(installed(), operators=operators))


def test_the_catalogue_of_a_snapshot_is_the_runtimes() -> None:
    """Kinds, views, tiers and composite flags."""
    from bringup_coverage.catalogue import catalogue
    from bringup_coverage.releases.catalogue import catalogue_of

    here = catalogue().operators
    for name, operator in catalogue_of(installed()).operators.items():
        real = here[name]
        assert (operator.kind, operator.view, operator.tier, operator.composite) == (
            real.kind,
            real.view,
            real.tier,
            real.composite,
        ), name
