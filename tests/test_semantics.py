"""What eager promises beyond values: mutation, aliasing, strides, random streams, dynamic shapes, regions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.scan import scan
from torch.nn.attention.flex_attention import flex_attention

import bringup

OPTIONS = ({"optional_kernels": True, "fallback": "error"}, {"optional_kernels": False, "fallback": "error"})


def compiled(fn: Any, **kwargs: Any) -> Any:
    """`fn` compiled without host fallback."""
    return torch.compile(fn, backend="bringup", options=OPTIONS[0], **kwargs)


def check(fn: Callable[..., Any], *args: Any, options: dict[str, Any] = OPTIONS[0], **kwargs: Any) -> Any:
    """Run `fn` in eager and compiled on copies of the arguments; results and mutated arguments must agree."""
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    torch.manual_seed(3)
    expected = fn(*theirs)
    torch.manual_seed(3)
    actual = torch.compile(fn, backend="bringup", options=options, **kwargs)(*ours)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(ours, theirs)
    return actual


def test_input_mutation_and_returned_view() -> None:
    """In-place on a view of an input that is returned."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = x.t()
        y.add_(1)
        return y

    assert check(fn, torch.arange(6.0).reshape(2, 3)).stride() == (1, 3)


def test_output_aliases_input() -> None:
    """A returned view of an input shares its memory."""
    x = torch.ones(4)
    y = compiled(lambda t: t[1:3])(x)
    y.add_(1)
    assert x.tolist() == [1, 2, 2, 1]


def test_two_slices_at_another_offset() -> None:
    """Offsets of inputs that share memory are not built into the graph."""

    def fn(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        b.add_(2)
        return a * 1

    run = compiled(fn, dynamic=True)
    for size, start, stop in ((10, 0, 3), (12, 2, 7), (12, 3, 9)):
        base = torch.zeros(size)
        assert run(base[start:stop], base[start:stop]).tolist() == [3.0] * (stop - start)
        assert base.sum() == 3 * (stop - start)


def test_duplicate_outputs_stay_apart() -> None:
    """Two equal clones are two tensors."""
    a, b = compiled(lambda x: (x.clone(), x.clone()))(torch.ones(2))
    a.add_(1)
    assert b.tolist() == [1, 1]


def test_factory_result_is_fresh_at_each_call() -> None:
    """A folded constant never escapes."""
    run = compiled(lambda: torch.zeros(3))
    run().add_(1)
    assert run().tolist() == [0, 0, 0]


def test_batch_norm_buffers() -> None:
    """Running statistics move as in eager."""
    for options in OPTIONS:
        torch._dynamo.reset()
        eager = nn.BatchNorm1d(3).train()
        ours = copy.deepcopy(eager)
        x = torch.randn(5, 3)
        torch.testing.assert_close(torch.compile(ours, backend="bringup", options=options)(x), eager(x))
        torch.testing.assert_close(ours.state_dict(), eager.state_dict())


@pytest.mark.parametrize("options", OPTIONS)
def test_random_stream_is_eagers(options: dict[str, Any]) -> None:
    """The same seed draws the same numbers."""
    check(lambda x: torch.rand_like(x) + torch.randn(4) + torch.bernoulli(x), torch.rand(4), options=options)


def test_dynamic_sizes_compile_once() -> None:
    """A second size needs no second program."""
    run = compiled(lambda x: (x @ x.t()).softmax(-1).sum(0), dynamic=True)
    with bringup.recording() as recorded:
        for n in (3, 5, 9):
            x = torch.randn(n, 4)
            torch.testing.assert_close(run(x), (x @ x.t()).softmax(-1).sum(0))
    assert len(recorded.programs) == 1
    assert recorded.bytes_peak > 0


def test_unbacked_sizes() -> None:
    """Data decides the size of a result."""
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        run = compiled(lambda x: x.nonzero().squeeze(1) * 2, fullgraph=True)
        assert run(torch.tensor([1, 0, 3])).tolist() == [0, 4]
        assert run(torch.tensor([0, 0, 0])).tolist() == []


def test_channels_last_strides() -> None:
    """A convolution of channels_last input keeps eager's strides."""
    conv = nn.Conv2d(3, 4, 3)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    assert compiled(conv)(x).stride() == conv(x).stride()


def test_empty_zero_dim_and_mixed_dtypes() -> None:
    """Corner shapes and promotion."""
    check(lambda x: x.sum(0) + 1, torch.ones(0, 3))
    check(lambda x: x * 2, torch.tensor(3))
    check(lambda a, b: a + b * 2, torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.bfloat16))
    check(lambda x: torch.view_as_real(x * 2j), torch.randn(3, dtype=torch.complex64))


def test_autocast() -> None:
    """Autocast picks eager's dtypes."""

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ w

    assert check(fn, torch.randn(3, 4), torch.randn(4, 2)).dtype is torch.bfloat16


def test_inference_mode_inside() -> None:
    """An inference-mode region with views inside a captured graph."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            scale = (x.detach().view(-1)[:3] * 2).sum()
        return x * float(scale)

    check(fn, torch.ones(2, 3))


def test_cond_and_its_nested_programs() -> None:
    """Both branches are lowered as regions of the program."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos() + 1, (x,))

    with bringup.recording() as recorded:
        for x in (torch.ones(3), -torch.ones(3)):
            torch.testing.assert_close(compiled(fn)(x), fn(x))
    program = recorded.programs[0]
    assert len(program.regions) == 2
    assert "@region0 =" in str(program)


def test_while_loop() -> None:
    """A loop runs its regions, zero times too."""
    from torch._higher_order_ops.while_loop import while_loop

    def fn(n: torch.Tensor, x: torch.Tensor) -> Any:
        return while_loop(lambda i, _: i > 0, lambda i, t: (i - 1, t * 2), (n, x))

    for n in (0, 3):
        torch.testing.assert_close(compiled(fn)(torch.tensor(n), torch.ones(2))[1], torch.ones(2) * 2**n)


def test_scan() -> None:
    """A scan over a dimension."""

    def fn(x: torch.Tensor) -> Any:
        return scan(lambda c, t: (c + t, c * t), torch.zeros(3), x)

    check(fn, torch.randn(4, 3))


def test_flex_attention() -> None:
    """A score modification captured from outside."""
    bias = torch.randn(4)

    def fn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + bias[h])

    q, k, v = (torch.randn(1, 4, 16, 8) for _ in range(3))
    torch.testing.assert_close(compiled(fn)(q, k, v), fn(q, k, v), rtol=1e-4, atol=1e-5)


def test_checkpoint_recomputes_the_same_dropout() -> None:
    """Gradients belong to the mask of the loss."""
    from torch.utils.checkpoint import checkpoint

    def fn(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda t: nn.functional.dropout(t, 0.5), x, use_reentrant=False)

    x = torch.ones(64, requires_grad=True)
    out = compiled(fn)(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_deepcopied_module_compiles_on() -> None:
    """A deep copy of a compiled module has weights of its own."""
    model = torch.compile(nn.Linear(2, 2), backend="bringup")
    x = torch.ones(1, 2)
    before = model(x).detach().clone()
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.weight.zero_()
    torch.testing.assert_close(model(x), before)
    torch.testing.assert_close(other(x)[0], other.bias)


def test_optimizer_step_in_the_graph() -> None:
    """Foreach optimizers compile: every list operator is its operator on each element."""
    weights = [torch.ones(3, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)]
    for w in weights:
        w.grad = torch.full_like(w, 0.5)
    optimizer = torch.optim.SGD(weights, lr=0.1, momentum=0.9, foreach=True)
    torch.compile(optimizer.step, backend="bringup", options=OPTIONS[1])()
    assert torch.allclose(weights[0], torch.full((3,), 0.95))


def test_conjugated_tangent() -> None:
    """A gradient that comes in with the lazy conjugate bit is the same gradient."""
    a, b = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    tangent = torch.randn(3, dtype=torch.complex64)
    out = compiled(lambda x, y: torch.complex(x, y) * 2)(a, b)
    actual = torch.autograd.grad(out, (a, b), tangent.conj())
    expected = torch.autograd.grad(torch.complex(a, b) * 2, (a, b), tangent.conj())
    torch.testing.assert_close(actual, expected)


def _raises(**backend: Any) -> bool:
    torch._dynamo.reset()
    try:
        torch.compile(torch.linalg.inv, **backend)(torch.zeros(2, 2))
    except torch.linalg.LinAlgError:
        return True
    return False


def test_checks_without_a_result_still_raise() -> None:
    """A singular matrix raises eager's error: the check is not dead code."""
    if not _raises(backend="aot_eager"):
        pytest.skip("AOTAutograd of this release drops operators without a result")
    assert all(_raises(backend="bringup", options=options) for options in OPTIONS)
