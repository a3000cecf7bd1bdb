"""Fused optimizer steps and loss scaling: the functional forms against what eager's in-place kernels leave behind."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

import bringup
from bringup.decompositions.half_precision import accumulation_dtype

aten = torch.ops.aten
OPTIONS = {"fallback": "error", "optional_kernels": False}
SCALES = [(None, None), (4.0, 0.0), (4.0, 1.0)]
"""Loss scale and whether something infinite was found; the last leaves the step out."""
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def tensors(dtype: torch.dtype, seed: int, *, positive: bool = False) -> list[torch.Tensor]:
    """A vector that fills no whole vector register, a matrix, and a number."""
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(shape, generator=generator) for shape in ([37], [5, 8], [])]
    return [(t.abs() if positive else t).to(dtype) for t in drawn]


def check(name: str, lists: list[list[torch.Tensor]], steps: list[torch.Tensor] | None, **options: Any) -> None:
    """Compiled, the functional overload of `name` returns what the in-place one writes.

    Half precision is held against eager in float32, rounded at the end: eager's SGD in bfloat16 does not write to parameters that fill a
    vector register.
    """
    overload = "tensor_lr" if isinstance(options.get("lr"), torch.Tensor) else "default"
    flat, spec = pytree.tree_flatten(([*lists, *([steps] if steps else [])], options))
    where = [i for i, value in enumerate(flat) if isinstance(value, torch.Tensor)]

    def function(*given: torch.Tensor) -> Any:
        values = list(flat)
        for i, tensor in zip(where, given, strict=True):
            values[i] = tensor
        args, kwargs = pytree.tree_unflatten(values, spec)
        return getattr(getattr(aten, name), overload)(*args, **kwargs)

    wide = [[t.clone().to(accumulation_dtype(t.dtype)) for t in group] for group in lists]
    in_place = getattr(getattr(aten, name + "_"), overload)
    with torch.no_grad():
        in_place(*wide, *([steps] if steps else []), **options)
        results = bringup.compile_function(function, options=OPTIONS)(*(flat[i].clone() for i in where))
    for result, expected, before in zip(results, wide, lists, strict=False):
        assert len(result) == len(expected)
        for actual, reference, old in zip(result, expected, before, strict=True):
            torch.testing.assert_close(actual, reference.to(old.dtype))
            assert actual.stride() == old.stride()


def scaling(scale: float | None, found: float | None) -> dict[str, torch.Tensor | None]:
    """The two arguments of loss scaling."""
    return {
        "grad_scale": None if scale is None else torch.tensor(scale),
        "found_inf": None if found is None else torch.tensor(found),
    }


@pytest.mark.parametrize("name", ["_fused_adam", "_fused_adamw"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam(name: str, dtype: torch.dtype, amsgrad: bool) -> None:
    """With and without weight decay, to a maximum, with a rate that is a tensor."""
    for maximize, decay, scales in itertools.product((False, True), (0.0, 0.1), SCALES):
        state = [
            tensors(dtype, 3),
            tensors(dtype, 4, positive=True),
            tensors(dtype, 5, positive=True) if amsgrad else [],
        ]
        check(
            name,
            [tensors(dtype, 1), tensors(dtype, 2), *state],
            [torch.tensor(3.0)] * 3,
            lr=torch.tensor(0.01) if maximize else 0.01,
            beta1=0.9,
            beta2=0.999,
            weight_decay=decay,
            eps=1e-8,
            amsgrad=amsgrad,
            maximize=maximize,
            **scaling(*scales),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("momentum", "nesterov", "first"), [(0, False, False), (0.9, False, True), (0.9, False, False), (0.9, True, False)]
)
def test_sgd(dtype: torch.dtype, momentum: float, nesterov: bool, first: bool) -> None:
    """Without momentum, and with it in the first and in later steps."""
    for maximize, decay, scales in itertools.product((False, True), (0.0, 0.1), SCALES):
        check(
            "_fused_sgd",
            [tensors(dtype, 1), tensors(dtype, 2), tensors(dtype, 3) if momentum else []],
            None,
            weight_decay=decay,
            momentum=momentum,
            lr=torch.tensor(0.01) if maximize else 0.01,
            dampening=0.0 if nesterov else 0.1,
            nesterov=nesterov,
            maximize=maximize,
            is_first_step=first,
            **scaling(*scales),
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_adagrad(dtype: torch.dtype) -> None:
    """The rate falls with the steps."""
    for maximize, decay, scales in itertools.product((False, True), (0.0, 0.1), SCALES):
        check(
            "_fused_adagrad",
            [tensors(dtype, 1), tensors(dtype, 2), tensors(dtype, 3, positive=True)],
            [torch.tensor(3.0)] * 3,
            lr=torch.tensor(0.01) if maximize else 0.01,
            lr_decay=0.1,
            weight_decay=decay,
            eps=1e-10,
            maximize=maximize,
            **scaling(*scales),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [1.0, float("inf"), float("nan")])
def test_check_and_unscale(dtype: torch.dtype, value: float) -> None:
    """Every gradient is multiplied; what is not finite is told."""
    grads, inverse = tensors(dtype, 1), torch.tensor([0.3])
    grads[1][0, 0] = value
    expected, found = [g.clone() for g in grads], torch.zeros(1)
    aten._amp_foreach_non_finite_check_and_unscale_(expected, found, inverse)

    def function(found: torch.Tensor, inverse: torch.Tensor, *grads: torch.Tensor) -> Any:
        return aten._amp_foreach_non_finite_check_and_unscale.default(list(grads), found, inverse)

    actual = bringup.compile_function(function, options=OPTIONS)(torch.zeros(1), inverse, *grads)
    torch.testing.assert_close(actual, (expected, found), rtol=0, atol=0, equal_nan=True)
    assert bool(found) is (value != 1.0)


@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("tracker", [1, 2])
@pytest.mark.parametrize("scale", [65536.0, 3e38])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_update_scale(found: float, tracker: int, scale: float, shape: tuple[int, ...]) -> None:
    """Growth after three steps, unless the scale would become infinite; a smaller scale after a bad step."""
    given = torch.full(shape, scale), torch.full(shape, tracker, dtype=torch.int32), torch.full(shape, found)
    expected = [t.clone() for t in given]
    aten._amp_update_scale_(*expected, 2.1, 0.5, 3)
    function = lambda *t: aten._amp_update_scale.default(*t, 2.1, 0.5, 3)  # noqa: E731
    actual = bringup.compile_function(function, options=OPTIONS)(*given)
    torch.testing.assert_close(list(actual), expected[:2], rtol=0, atol=0)
