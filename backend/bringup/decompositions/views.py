"""Views, copies and aliases."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.torch_internals import is_fake

TABLE = Decompositions("views")
aten = torch.ops.aten


@TABLE.register("aten::alias")
def alias(self: torch.Tensor) -> torch.Tensor:
    """alias(Tensor(a) self) -> Tensor(a)"""
    return aten.view(self, self.shape)


@TABLE.register("aten::lift_fresh", "aten::lift")
def lift_fresh(self: torch.Tensor) -> torch.Tensor:
    """lift_fresh(Tensor(a) self) -> Tensor(a)

    A real tensor is a constant on its way into the graph; see `lift_fresh_copy`.
    """
    return aten.view(self, self.shape) if is_fake(self) else NotImplemented


@TABLE.register("aten::lift_fresh_copy")
def lift_fresh_copy(self: torch.Tensor) -> torch.Tensor:
    """lift_fresh_copy(Tensor self) -> Tensor

    Applies to fake tensors; a real one is a constant that tracing turns into a fake one by this very operator, and
    the pass `LowerLifts` rewrites what is left.
    """
    return aten.clone(self) if is_fake(self) else NotImplemented


@TABLE.register("aten::_unsafe_view", "aten::_reshape_alias")
def _unsafe_view(self: torch.Tensor, size: Any, *_: Any) -> torch.Tensor:
    """_unsafe_view(Tensor self, SymInt[] size) -> Tensor"""
    return aten.view(self, size)
