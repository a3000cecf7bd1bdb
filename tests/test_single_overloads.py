"""Overloads that no OpInfo reaches: compiled by required kernels alone, their calls give what eager gives."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

import bringup
from bringup.decompositions import default_decompositions
from bringup.torch_internals import find_overload
from bringup_coverage.calls import recipes
from bringup_coverage.experiment import Experiment

OPTIONS = {"fallback": "error", "optional_kernels": False}
aten = torch.ops.aten

NAMES = (
    "aten::_compute_linear_combination",
    "aten::_convolution",
    "aten::_convolution.deprecated",
    "aten::_fake_quantize_learnable_per_channel_affine",
    "aten::_fake_quantize_learnable_per_tensor_affine",
    "aten::_fake_quantize_learnable_per_tensor_affine_backward",
    "aten::_fused_moving_avg_obs_fq_helper",
    "aten::_fused_moving_avg_obs_fq_helper_functional",
    "aten::_slow_conv2d_backward.output_mask",
    "aten::batch_norm_update_stats",
    "aten::bernoulli.Tensor",
    "aten::fake_quantize_per_channel_affine",
    "aten::fake_quantize_per_channel_affine_cachemask",
    "aten::fake_quantize_per_tensor_affine",
    "aten::fake_quantize_per_tensor_affine.tensor_qparams",
    "aten::fake_quantize_per_tensor_affine_cachemask",
    "aten::fft_fftfreq",
    "aten::fft_rfftfreq",
    "aten::fractional_max_pool3d",
    "aten::fused_moving_avg_obs_fake_quant",
    "aten::linalg__powsum",
)
EAGER_IS_WRONG = {
    ("aten::_compute_linear_combination", "complex64"): "eager's complex kernel adds up only the first term"
}


def experiment(recipe: Any, *, backward: bool) -> Experiment:
    """A recorded call as a function of its tensors."""
    overload: Any = find_overload(recipe.overload)
    flat, spec = pytree.tree_flatten((list(recipe.args), recipe.kwargs))
    where = [i for i, v in enumerate(flat) if isinstance(v, torch.Tensor)]

    def function(*tensors: torch.Tensor) -> Any:
        values = list(flat)
        for i, tensor in zip(where, tensors, strict=True):
            values[i] = tensor
        args, kwargs = pytree.tree_unflatten(values, spec)
        results = overload(*args, **kwargs)
        return (results, tensors) if overload._schema.is_mutable else results

    def copies() -> list[torch.Tensor]:
        args, kwargs = recipe.fresh()
        tensors = [v for v in pytree.tree_leaves((list(args), kwargs)) if isinstance(v, torch.Tensor)]
        return [t.requires_grad_(t.is_floating_point() or t.is_complex()) for t in tensors] if backward else tensors

    return Experiment(function, [], OPTIONS, backward=backward, copies=copies)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", NAMES)
def test_calls(name: str, dtype: str) -> None:
    """Values, and gradients where eager has them."""
    if find_overload(name) is None:
        pytest.skip("this torch does not have it")
    if (name, dtype) in EAGER_IS_WRONG:
        pytest.skip(EAGER_IS_WRONG[name, dtype])
    found = list(recipes(name, dtype, 4))
    assert found or dtype != "float32"
    for recipe in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finding = experiment(recipe, backward=False).run()
            assert finding.status == "pass", f"{recipe.args}: {finding}"
            gradients = experiment(recipe, backward=True)
            if not find_overload(name)._schema.is_mutable and gradients.differentiable():  # type: ignore[union-attr]
                assert gradients.run().status == "pass", recipe.args


def compiled(function: Any, *tensors: torch.Tensor) -> Any:
    """What the required kernels give."""
    with torch.no_grad():
        return bringup.compile_function(function, options=OPTIONS)(*tensors)


def test_linear_combination_of_complex_numbers() -> None:
    """A matrix product; eager's own result is none."""
    weights, x = torch.randn(5, 4, dtype=torch.complex64), torch.randn(4, 3, 2, dtype=torch.complex64)
    actual = compiled(aten._compute_linear_combination, x, weights)
    torch.testing.assert_close(actual, torch.einsum("mn,nab->mab", weights, x))


def test_weight_norm_of_a_vector_of_lengths() -> None:
    """The norms have the shape of the lengths, and each length goes with its row."""
    v, g = torch.randn(4, 4), torch.randn(4)
    torch.testing.assert_close(compiled(aten._weight_norm_interface, v, g), aten._weight_norm_interface(v, g))


def test_nnpack_convolution() -> None:
    """The entry is compared with the convolution: not every processor runs NNPACK."""
    x, weight, bias = torch.randn(2, 3, 9, 9), torch.randn(4, 3, 3, 3), torch.randn(4)
    entry = default_decompositions()[aten._nnpack_spatial_convolution.default]
    torch.testing.assert_close(
        entry(x, weight, bias, [1, 1], [2, 2]), torch.nn.functional.conv2d(x, weight, bias, 2, 1)
    )


@pytest.mark.parametrize("mask", [(True, True, True), (True, False, False), (False, True, False)])
@pytest.mark.parametrize("flat", [False, True])
def test_slow_convolution_backward(mask: tuple[bool, ...], flat: bool) -> None:
    """Only the gradients asked for; the weight may be a matrix."""
    grad, x, weight = torch.randn(2, 4, 3, 3), torch.randn(2, 3, 7, 7), torch.randn(4, 3, 3, 3)
    weight = weight.flatten(1) if flat else weight

    def function(*t: torch.Tensor) -> Any:
        found = aten._slow_conv2d_backward.output_mask(*t, [3, 3], [2, 2], [0, 0], mask)
        return [g for g in found if g is not None]

    torch.testing.assert_close(compiled(function, grad, x, weight), function(grad, x, weight), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 4, 5])
@pytest.mark.parametrize("dtype", [None, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("overload", [aten.fft_fftfreq.default, aten.fft_rfftfreq.default])
def test_bins(overload: Any, n: int, dtype: torch.dtype | None) -> None:
    """No bin, an even and an odd number of them."""
    expected = overload(n, 0.3, dtype=dtype)
    actual = compiled(lambda t: overload(n, 0.3, dtype=dtype) + 0 * t.to(expected.dtype), torch.zeros(()))
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.skipif(not hasattr(aten, "linalg__powsum"), reason="this torch does not have it")
@pytest.mark.parametrize("order", [0, 1, 2, 3.5, -1, float("inf")])
@pytest.mark.parametrize("dim", [[], [1], None, [0, 1]])
def test_sums_of_powers(order: float, dim: list[int] | None) -> None:
    """Over no, some and all dimensions, with zeros."""
    x = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])
    expected = aten.linalg__powsum(x, order, dim)
    torch.testing.assert_close(compiled(lambda t: aten.linalg__powsum(t, order, dim), x), expected)


def beta_gradient(x: float, a: float, b: float) -> float:
    """-(dI/da) / p / (1 - x) of the beta distribution, by differences in many digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(30):
        slope = mpmath.diff(lambda q: mpmath.betainc(q, b, 0, x, regularized=True), a)
        y = 1 - mpmath.mpf(x)
        return float(-slope * mpmath.beta(a, b) / (mpmath.mpf(x) ** (a - 1) * y**b))


@pytest.mark.parametrize(
    ("x", "a", "b"),
    [
        (0.638, 15.93, 8.423),
        (0.9035, 10.19, 0.2955),
        (0.014, 0.2523, 8.29),
        (0.2391, 12.38, 24.37),
        (0.99997, 1.025, 0.06641),
        (4.79e-6, 0.1292, 2.07),
        (0.45981, 134.2, 148.2),
        (0.11913, 543.7, 4234.0),
        (0.96996, 3224.0, 101.7),
    ],
)
def test_dirichlet_gradient(x: float, a: float, b: float) -> None:
    """In float64 exact to 1e-12 below a hundred, to 3e-5 above; eager's kernel is off by up to 5e-4."""
    tensors = [torch.tensor([v], dtype=torch.float64) for v in (x, a, a + b)]
    exact = beta_gradient(*(float(t) for t in (tensors[0], tensors[1], tensors[2] - tensors[1])))
    found = float(compiled(aten._dirichlet_grad, *tensors))
    assert found == pytest.approx(exact, rel=1e-12 if min(a, b) < 100 else 3e-5)
    assert found == pytest.approx(float(aten._dirichlet_grad(*tensors)), rel=1e-3)


def test_dirichlet_gradient_at_the_ends() -> None:
    """Of the interval, where logarithms are infinite."""
    for dtype in (torch.float32, torch.float64):
        x, a, total = (torch.tensor(v, dtype=dtype) for v in ([0.0, 1.0, 0.5, 0.2], [2.0] * 4, [5.0] * 4))
        expected = aten._dirichlet_grad(x, a, total)
        torch.testing.assert_close(compiled(aten._dirichlet_grad, x, a, total), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.float32, torch.complex64, None])
@pytest.mark.parametrize("limits", [(4.3, 0, 5), (-5, 7, 50), (10, -3, 11), (3, 3, 1), (1.9, 8.7, 0), (-4.5, 4.5, 4)])
def test_linspace_counts_as_eager_does(dtype: torch.dtype | None, limits: tuple[float, float, int]) -> None:
    """Numbers and tensors as limits; integers are exact."""
    start, end, steps = limits

    def numbers() -> torch.Tensor:
        return torch.linspace(start, end, steps, dtype=dtype)

    def tensors(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(torch.linspace(x, y, steps, dtype=dtype) for x, y in ((a, b), (a, end), (start, b)))

    options = {"fallback": "error", "optional_kernels": False}
    limits_ = torch.tensor(start), torch.tensor(end)
    expected = [numbers(), *tensors(*limits_)]
    actual = [
        bringup.compile_function(numbers, options=options)(),
        *bringup.compile_function(tensors, options=options)(*limits_),
    ]
    for a, e in zip(actual, expected, strict=True):
        torch.testing.assert_close(a, e, rtol=1.3e-6 if e.is_floating_point() or e.is_complex() else 0, atol=1e-6)
