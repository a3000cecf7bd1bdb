"""Activations and their gradients."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.half_precision import accumulation_dtype
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("activations")
aten = torch.ops.aten


@TABLE.register("aten::log_sigmoid_forward")
def log_sigmoid_forward(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)

    log(1 / (1 + e^-x)) = min(x, 0) - log1p(e^-|x|); the exponential is kept for the gradient.
    """
    x = self.to(accumulation_dtype(self.dtype))
    buffer = torch.exp(-torch.abs(x))
    output = torch.clamp_max(x, 0) - torch.log1p(buffer)
    return output.to(self.dtype), buffer.to(self.dtype)


@TABLE.register("aten::log_sigmoid_backward")
def log_sigmoid_backward(grad_output: torch.Tensor, self: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor

    The derivative is sigmoid(-x) = z / (1 + z) for x >= 0 and 1 / (1 + z) for x < 0, with z = e^-|x|. The buffer
    is empty where another device made it.
    """
    wide = accumulation_dtype(self.dtype)
    x, grad = self.to(wide), grad_output.to(wide)
    z = torch.exp(-torch.abs(x))
    return (grad * (torch.where(x < 0, torch.ones_like(z), z) / (1 + z))).to(grad_output.dtype)


@TABLE.register("aten::rrelu_with_noise_backward")
def rrelu_with_noise_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: Any,
    upper: Any,
    training: bool,
    self_is_result: bool,
) -> torch.Tensor:
    """rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper,
    bool training, bool self_is_result) -> Tensor

    Bounds closer than 1e-6 draw nothing; eager treats them as one slope.
    """
    if training and upper - lower > 1e-6:
        return grad_output * noise
    return aten.leaky_relu_backward(grad_output, self, (lower + upper) / 2, self_is_result)


def _shrunk_gradient(grad: torch.Tensor, self: torch.Tensor, lambd: Any) -> torch.Tensor:
    inside = (self >= -lambd) & (self <= lambd)
    return torch.where(inside, torch.zeros_like(grad), grad)


@TABLE.register("aten::hardshrink_backward")
def hardshrink_backward(grad_out: torch.Tensor, self: torch.Tensor, lambd: Any) -> torch.Tensor:
    """hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor"""
    return _shrunk_gradient(grad_out, self, lambd)


@TABLE.register("aten::softshrink_backward")
def softshrink_backward(grad_output: torch.Tensor, self: torch.Tensor, lambd: Any) -> torch.Tensor:
    """softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor"""
    return _shrunk_gradient(grad_output, self, lambd)


@TABLE.register("aten::glu_jvp")
def glu_jvp(glu: torch.Tensor, x: torch.Tensor, dx: torch.Tensor, dim: int) -> torch.Tensor:
    """glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor

    glu = a s(b), so d glu = da s(b) + glu (1 - s(b)) db.
    """
    b = torch.chunk(x, 2, dim)[1]
    da, db = torch.chunk(dx, 2, dim)
    gate = torch.sigmoid(b)
    return da * gate + glu * (1 - gate) * db


@TABLE.register("aten::glu_backward_jvp")
def glu_backward_jvp(
    grad_x: torch.Tensor, grad_glu: torch.Tensor, x: torch.Tensor, dgrad_glu: torch.Tensor, dx: torch.Tensor, dim: int
) -> torch.Tensor:
    """glu_backward_jvp(Tensor grad_x, Tensor grad_glu, Tensor x, Tensor dgrad_glu, Tensor dx, int dim) -> Tensor

    The derivative of (g s(b), g a s(b) (1 - s(b))) with g' , a', b' given.
    """
    a, b = torch.chunk(x, 2, dim)
    da, db = torch.chunk(dx, 2, dim)
    gate = torch.sigmoid(b)
    slope = gate * (1 - gate)
    first = dgrad_glu * gate + grad_glu * slope * db
    second = (dgrad_glu * a + grad_glu * da) * slope + grad_glu * a * slope * (1 - 2 * gate) * db
    return torch.cat([first, second], dim)


@TABLE.register("aten::_masked_softmax")
def masked_softmax(
    self: torch.Tensor, mask: torch.Tensor, dim: int | None = None, mask_type: int | None = None
) -> torch.Tensor:
    """_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor

    Elements whose mask is set get no weight. Type 0 is a mask of (L, L), type 1 one of (B, L), type 2 one of self's
    shape.
    """
    if mask_type == 0:
        mask = mask.view(1, 1, self.shape[2], self.shape[3])
    if mask_type == 1:
        mask = mask.view(self.shape[0], 1, 1, self.shape[3])
    masked = torch.where(mask, float("-inf"), self)
    return aten._softmax(masked, -1 if dim is None else dim, False)


@TABLE.register("aten::_masked_softmax_backward")
def masked_softmax_backward(
    grad_output: torch.Tensor, output: torch.Tensor, mask: torch.Tensor, dim: int | None = None
) -> torch.Tensor:
    """_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor"""
    axis = -1 if dim is None else dim
    weighted = torch.where(mask, torch.zeros_like(grad_output), grad_output * output)
    gradient = weighted - output * weighted.sum(axis, keepdim=True)
    return torch.where(mask, torch.zeros_like(gradient), gradient)
