"""Results lie in memory as eager's do: what was captured with eager's strides views by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import bringup
from bringup.torch_internals import capture, fake_inputs

OPTIONS: tuple[dict[str, Any], ...] = tuple({"optional_kernels": o, "fallback": "error"} for o in (True, False))
HELD = [
    "addbmm",
    "addmm",
    "baddbmm",
    "cholesky_inverse",
    "complex",
    "diagonal_scatter",
    "fft.hfft",
    "fft.rfft2",
    "fmax",
    "fmin",
    "geqrf",
    "kthvalue",
    "ldexp",
    "linalg.householder_product",
    "linalg.ldl_solve",
    "linalg.lu_solve",
    "linalg.solve",
    "logaddexp",
    "logical_and",
    "lu_unpack",
    "nn.functional.embedding",
    "nn.functional.interpolate",
    "nn.functional.logsigmoid",
    "nn.functional.max_unpool2d",
    "native_dropout_backward",
    "ormqr",
    "polar",
    "polygamma",
    "select_scatter",
    "special.xlog1py",
    "special.zeta",
    "stft",
    "tile",
    "triangular_solve",
    "xlogy",
]


def turned(value: Any) -> Any:
    """A tensor with the same elements whose last two dimensions have changed places in memory."""
    if isinstance(value, torch.Tensor) and value.dim() >= 2:
        return value.detach().transpose(-1, -2).contiguous().transpose(-1, -2)
    return value


def samples(name: str) -> Iterator[tuple[Any, list[torch.Tensor]]]:
    """An operator as functions of tensors alone, and the tensors."""
    for info in (o for o in op_db if o.name == name):
        for sample in list(info.sample_inputs("cpu", torch.float32, requires_grad=False))[:2]:
            flat, spec = pytree.tree_flatten(pytree.tree_map(turned, (sample.input, sample.args, sample.kwargs)))
            where = [i for i, v in enumerate(flat) if isinstance(v, torch.Tensor)]

            def function(
                *tensors: torch.Tensor, flat: Any = flat, spec: Any = spec, where: Any = where, op: Any = info
            ) -> Any:
                values = list(flat)
                for i, tensor in zip(where, tensors, strict=True):
                    values[i] = tensor
                input_, args, kwargs = pytree.tree_unflatten(values, spec)
                return op(input_, *args, **kwargs)

            yield function, [flat[i] for i in where]


def strides(value: Any) -> list[tuple[int, ...]]:
    """Of the dense tensors of a result, in the dimensions that have more than one element."""
    tensors = [t for t in pytree.tree_leaves(value) if isinstance(t, torch.Tensor) and t.numel()]
    return [tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1) for t in tensors]


@pytest.mark.parametrize("name", HELD)
def test_decompositions_keep_the_operators_layout(name: str) -> None:
    """With required kernels only, a graph's results have the strides that Dynamo's fake tensors have."""
    target = bringup.find_target("sim").with_options(optional_kernels=False)
    compared = 0
    for function, tensors in samples(name):
        mode, fakes = fake_inputs(tensors, dynamic=False)
        with mode, torch.no_grad():
            expected = strides(function(*fakes))
        (graph,) = capture(function, tensors, target.table)
        (output,) = (n for n in graph.graph.nodes if n.op == "output")
        assert strides([n.meta["val"] for n in output.args[0] if n is not None]) == expected, [t.shape for t in tensors]
        compared += 1
    assert compared


@pytest.mark.parametrize("options", OPTIONS)
def test_a_convolution_of_an_ambiguous_layout_is_viewed(options: dict[str, Any]) -> None:
    """Of a sum with dimensions of one element the fake kernel gives other strides than the real one; convolutions follow them."""

    def image(a: torch.Tensor, b: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv_transpose2d(a + b, weight).permute(0, 2, 3, 1)

    torch.manual_seed(0)
    a, b = torch.randn(2, 8, 1, 1), torch.randn(2, 1, 1, 8).permute(0, 3, 1, 2)
    weight = torch.randn(8, 24, 3, 3)

    def fn(a: torch.Tensor, b: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.view(image(a, b, weight), [-1, 24])

    compiled = torch.compile(fn, backend="bringup", options=options)
    torch.testing.assert_close(compiled(a, b, weight), image(a, b, weight).reshape(-1, 24))
