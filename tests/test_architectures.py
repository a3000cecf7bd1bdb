"""The architecture suite: what its list holds, how it compares, and a slice of it on the backend."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")

from click.testing import CliRunner

from bringup_coverage.architectures.catalogue import ARCHITECTURES
from bringup_coverage.architectures.row import Architecture, Example
from bringup_coverage.commands.models import lines, models, totals_of
from bringup_coverage.model_check import check
from bringup_coverage.model_compare import compare
from bringup_coverage.model_run import run

ROWS = {a.model_type: a for a in ARCHITECTURES}
RIGHT = ("pass", "fallback")


class Shifted(torch.nn.Module):
    """A model of one linear layer and a shift that tells a compiled call from an eager one."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.shift = 0.0

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.linear(x) + self.shift}


def toy() -> Example:
    """A seeded toy and its input."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Example(Shifted().eval(), {"x": torch.randn(4, 3)})


TOY = Architecture("toy", "decoder", toy)


def test_one_row_a_model_type() -> None:
    """No model type twice; every kind is there; enough of them."""
    assert len(ROWS) == len(ARCHITECTURES) >= 70
    kinds = Counter(a.kind for a in ARCHITECTURES)
    wanted = {"decoder", "encoder", "encoder-decoder", "vision", "audio", "multimodal", "experts", "state-space"}
    assert set(kinds) == wanted
    assert min(kinds.values()) >= 5


@pytest.mark.parametrize("model_type", ["llama", "wav2vec2"])
def test_building_is_repeatable_and_leaves_the_callers_random_numbers_alone(model_type: str) -> None:
    """Two builds are equal, and nothing random is drawn from the caller's generator."""
    state = torch.get_rng_state()
    first, second = ROWS[model_type].build(), ROWS[model_type].build()
    assert torch.equal(state, torch.get_rng_state())
    assert not first.model.training
    for (name, a), (_, b) in zip(first.model.named_parameters(), second.model.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    assert all(torch.equal(v, second.inputs[k]) for k, v in first.inputs.items() if isinstance(v, torch.Tensor))


def test_comparison_takes_rounding_and_refuses_a_small_error() -> None:
    """A relative error of 1e-6 is equal, one of 1e-2 is not, and the tensor is named."""
    expected, close, far = (run(toy()) for _ in range(3))
    close["inference"]["logits"] = close["inference"]["logits"] * (1 + 1e-6)
    assert compare(close, expected, TOY) is None
    far["gradients"]["linear.bias"] = far["gradients"]["linear.bias"] * 1.01
    assert "gradients linear.bias" in (compare(far, expected, TOY) or "")


def test_comparison_holds_dtypes() -> None:
    """Equal values of another dtype are a difference."""
    expected, actual = run(toy()), run(toy())
    actual["inference"]["logits"] = actual["inference"]["logits"].double()
    assert "dtype torch.float64" in (compare(actual, expected, TOY) or "")


def test_comparison_sees_what_is_missing() -> None:
    """A gradient that one side lacks is a difference unless the other side's is zero."""
    expected, actual = run(toy()), run(toy())
    del actual["gradients"]["linear.bias"]
    assert compare(actual, expected, TOY) == "gradients linear.bias: missing"
    expected["gradients"]["linear.bias"].zero_()
    assert compare(actual, expected, TOY) is None


def test_a_wrong_backend_fails() -> None:
    """A backend that returns something else than eager is a failure, which no baseline excuses."""

    def wrong(gm: torch.fx.GraphModule, _: Any) -> Any:
        return lambda *args: tuple(o + 0.1 for o in gm(*args))

    outcome = check(TOY, wrong, {})  # type: ignore[arg-type]
    assert outcome.status == "fail"
    assert outcome.detail.startswith("inference logits: off by ")


def test_what_eager_cannot_repeat_is_excluded() -> None:
    """A model that differs from itself proves nothing."""
    count = iter(range(100))

    def unsteady() -> Example:
        example = toy()
        example.model.shift = float(next(count))
        return example

    outcome = check(dataclasses.replace(TOY, build=unsteady), "aot_eager", {})
    assert outcome.status == "excluded"
    assert outcome.detail.startswith("eager differs from itself")


@pytest.mark.parametrize(
    ("model_type", "optional_kernels"),
    [("opt", False), ("opt", True), ("fnet", True), ("resnet", True), ("mixtral", True)],
)
def test_a_slice_of_the_suite(model_type: str, optional_kernels: bool) -> None:
    """Inference, gradients and the step are eager's."""
    outcome = check(ROWS[model_type], "bringup", {"optional_kernels": optional_kernels})
    assert outcome.status in RIGHT, outcome
    assert outcome.programs >= 3


def test_command_resumes_and_says_what_it_found(tmp_path: Path) -> None:
    """A second call takes the row from the journal; a pattern that matches nothing is a usage error."""
    journal, output = tmp_path / "models.jsonl", tmp_path / "models.json"
    arguments = ["--only", "fnet", "--backend", "eager", "--jobs", "1", "--journal", str(journal), "--json"]
    first = CliRunner().invoke(models, [*arguments, "--output", str(output)])
    assert first.exit_code == 0, first.output
    assert json.loads(output.read_text(encoding="utf-8"))["outcomes"][0]["status"] == "pass"
    second = CliRunner().invoke(models, arguments)
    assert second.exit_code == 0
    assert len(journal.read_text(encoding="utf-8").splitlines()) == 2
    assert CliRunner().invoke(models, ["--only", "no such model"]).exit_code == 2


def test_report_groups_host_operators() -> None:
    """Totals by kind, and one line for an operator with all the models that needed it."""
    fallback = {"operator": "aten::x", "reason": "no-kernel", "detail": "none", "source": "", "count": 1}
    row = {"kind": "decoder", "status": "fallback", "detail": "aten::x", "fallbacks": [fallback]}
    rows = [{"case": name, "programs": 3, "seconds": 1.0, **row} for name in ("a", "b")]
    assert totals_of(rows)["all"]["fallback"] == 2
    assert lines(rows)[-1] == "on the host: aten::x (no-kernel: none): a, b"
