"""Rows of operators that take what another operator gave: results, norms and states that belong to the other inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bringup_coverage.calls.tensors import SIZE, dense, shaped

Row = Callable[[], dict[str, Any]]

F32 = torch.float32


def _weight_norm() -> dict[str, Any]:
    """A weight of 4 rows, each with a magnitude of its own."""
    return {"v": dense(2, F32), "g": shaped((SIZE, 1), F32, 1), "dim": 0}


def _weight_norm_backward() -> dict[str, Any]:
    values = _weight_norm()
    norms = values["v"].norm(dim=1, keepdim=True)
    saved = {"saved_v": values["v"], "saved_g": values["g"], "saved_norms": norms}
    return {"grad_w": dense(2, F32, 2), **saved, "dim": 0}


def _glu_jvp() -> dict[str, Any]:
    x = dense(2, F32)
    return {"glu": torch.nn.functional.glu(x, 1), "x": x, "dx": dense(2, F32, 3), "dim": 1}


def _glu_backward_jvp() -> dict[str, Any]:
    """Of the gradient that glu_backward gives for the same input."""
    x, half = dense(2, F32), shaped((SIZE, 2), F32)
    first = torch.ops.aten.glu_backward(half, x, 1)
    second = {"dgrad_glu": shaped((SIZE, 2), F32, 3), "dx": dense(2, F32, 3)}
    return {"grad_x": first, "grad_glu": half, "x": x, **second, "dim": 1}


def _dirichlet() -> dict[str, Any]:
    """Samples of 4 classes, which sum to one, and the sums of their concentrations."""
    alpha = dense(2, F32) + 0.5
    x = dense(2, F32, 1)
    return {"x": x / x.sum(-1, keepdim=True), "alpha": alpha, "total": alpha.sum(-1, keepdim=True).expand_as(alpha)}


def _cumprod_backward() -> dict[str, Any]:
    x = dense(2, F32)
    return {"grad": dense(2, F32, 1), "input": x, "dim": 0, "output": x.cumprod(0)}


def _reshape_alias() -> dict[str, Any]:
    """What reshape makes of a contiguous tensor: sizes and the strides that view it."""
    return {"self": dense(2, F32), "size": [2, 8], "stride": [8, 1]}


DERIVED: dict[str, Row] = {
    "_dirichlet_grad": _dirichlet,
    "_reshape_alias": _reshape_alias,
    "_reshape_alias_copy": _reshape_alias,
    "_weight_norm": _weight_norm,
    "_weight_norm_interface": _weight_norm,
    "_weight_norm_interface_backward": _weight_norm_backward,
    "_weight_norm_differentiable_backward": _weight_norm_backward,
    "cumprod_backward": _cumprod_backward,
    "glu_backward_jvp": _glu_backward_jvp,
    "glu_jvp": _glu_jvp,
}
