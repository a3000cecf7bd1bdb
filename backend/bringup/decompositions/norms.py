"""Weight normalisation: w = g v / |v| (Salimans and Kingma, 2016).

    grad g = sum(grad w v) / |v|,   grad v = g / |v| (grad w - v sum(grad w v) / |v|^2)
"""

from __future__ import annotations

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("norms")
aten = torch.ops.aten


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.float32) if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _others(tensor: torch.Tensor, dim: int) -> list[int]:
    return [d for d in range(tensor.dim()) if d != dim % tensor.dim()]


@TABLE.register("aten::_weight_norm_interface")
def _weight_norm_interface(v: torch.Tensor, g: torch.Tensor, dim: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)"""
    wide = _wide(v)
    norms = aten.sqrt(aten.sum.dim_IntList(wide * wide, _others(v, dim), True))
    return (wide * (_wide(g) / norms)).to(v.dtype), norms


@TABLE.register("aten::_weight_norm_interface_backward")
def _weight_norm_interface_backward(
    grad_w: torch.Tensor, saved_v: torch.Tensor, saved_g: torch.Tensor, saved_norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)"""
    grad, v, g, norms = _wide(grad_w), _wide(saved_v), _wide(saved_g), _wide(saved_norms)
    along = aten.sum.dim_IntList(grad * v, _others(v, dim), True)
    grad_v = g / norms * (grad - v * (along / (norms * norms)))
    return grad_v.to(saved_v.dtype), (along / norms).to(saved_g.dtype)
