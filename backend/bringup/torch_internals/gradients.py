"""A function and its gradients in one, as AOTAutograd's joint graph has them, for functions that run under functionalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class ResultIsView(Exception):
    """AOTAutograd makes views anew outside of the graph, so that their gradients are not in it."""


def with_gradients(function: Callable[..., list[torch.Tensor]], wanted: Sequence[int]) -> Callable[..., Any]:
    """The function and its gradients: of inputs and cotangents it gives the results, and what flows back to the inputs at `wanted`.

    A cotangent is given for each result, used or not; without them they are made, of the results' sizes and strides. Where nothing
    flows back the gradient is None, as `torch.autograd.grad` has it and `torch.func.vjp` has not.

    Raises:
        ResultIsView: when it is called.
    """
    from torch._C._functorch import _unwrap_for_grad, _wrap_for_grad
    from torch._functorch.eager_transforms import _create_differentiable, grad_increment_nesting

    def joint(inputs: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor] | None = None) -> Any:
        with grad_increment_nesting() as level, torch.enable_grad():
            wrapped = [_wrap_for_grad(t, level) for t in inputs]
            sources = [_create_differentiable(wrapped[i], level) for i in wanted]
            results = function(*wrapped)
            if any(r._is_view() for r in results):
                raise ResultIsView
            given = cotangents or [torch.empty_like(_unwrap_for_grad(r, level)) for r in results]
            pairs = [(r, c) for r, c in zip(results, given, strict=True) if r.requires_grad]
            gradients: Sequence[torch.Tensor | None] = ()
            if pairs:
                roots, flowing = zip(*pairs, strict=True)
                gradients = torch.autograd.grad(roots, sources, flowing, allow_unused=True)
            return (
                [_unwrap_for_grad(r, level) for r in results],
                [g if g is None else _unwrap_for_grad(g, level) for g in gradients],
            )

    return joint
