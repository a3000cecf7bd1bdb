"""Convolutions and their gradients.

The gradient of a convolution to its input is the transposed convolution of the output's gradient, and the gradient to its weight is a
convolution of the input with the output's gradient in which batch and channels change places (Dumoulin and Visin,
"A guide to convolution arithmetic for deep learning", 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("convolution")
aten = torch.ops.aten


@TABLE.register("aten::convolution_overrideable")
def convolution_overrideable(*args: Any) -> torch.Tensor:
    """convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, ...) -> Tensor"""
    return aten.convolution(*args)


@TABLE.register("aten::_convolution")
def _convolution(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *args: Any) -> torch.Tensor:
    """_convolution(Tensor input, Tensor weight, Tensor? bias, ..., SymInt groups, bool benchmark, ...) -> Tensor

    The switches behind the groups choose among a vendor's algorithms.
    """
    return aten.convolution(input, weight, bias, *args[:6])


@TABLE.register("aten::_nnpack_spatial_convolution")
def _nnpack_spatial_convolution(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    padding: Sequence[Any],
    stride: Sequence[Any] = (1, 1),
) -> torch.Tensor:
    """_nnpack_spatial_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[2] padding, SymInt[2] stride=1) -> Tensor"""
    return aten.convolution(input, weight, bias, stride, padding, [1, 1], False, [0, 0], 1)


@TABLE.register("aten::convolution_backward", "aten::convolution_backward_overrideable")
def convolution_backward(
    grad_output: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    bias_sizes: Sequence[Any] | None,
    stride: Sequence[int],
    padding: Sequence[Any],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[Any],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, ...) -> (Tensor, Tensor, Tensor)"""
    dims = weight.dim() - 2
    stride, padding, dilation = (_spread(v, dims) for v in (stride, padding, dilation))
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        other = aten._conj_physical(weight) if weight.is_complex() else weight
        if transposed:
            grad_input = aten.convolution(
                grad_output, other, None, stride, padding, dilation, False, [0] * dims, groups
            )
            grad_input = _crop(
                grad_input, input.shape
            )  # output padding of a stride or more leaves rows that nothing reads
        else:
            extra = [
                input.shape[2 + d]
                - (
                    (grad_output.shape[2 + d] - 1) * stride[d]
                    - 2 * padding[d]
                    + dilation[d] * (weight.shape[2 + d] - 1)
                    + 1
                )
                for d in range(dims)
            ]
            grad_input = aten.convolution(grad_output, other, None, stride, padding, dilation, True, extra, groups)
    if output_mask[1]:
        left, right = (grad_output, input) if transposed else (input, grad_output)
        grad_weight = _weight_gradient(left, right, weight, stride, padding, dilation, groups, transposed)
    if output_mask[2]:
        grad_bias = aten.sum.dim_IntList(grad_output, [0, *range(2, grad_output.dim())])
    return grad_input, grad_weight, grad_bias


def _spread(values: Sequence[Any], dims: int) -> list[Any]:
    return list(values) * dims if len(values) == 1 else list(values)


def _weight_gradient(
    left: torch.Tensor,
    right: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[Any],
    dilation: Sequence[int],
    groups: int,
    transposed: bool,
) -> torch.Tensor:
    """Correlate `left` (N, G L, ...) with `right` (N, G R, ...): the result is (G R, L, kernel)."""
    if left.is_complex():
        left, right = (left, aten._conj_physical(right)) if transposed else (aten._conj_physical(left), right)
    batch, channels = left.shape[0], left.shape[1] // groups
    spatial = list(left.shape[2:])
    grouped = left.reshape([batch, groups, channels, *spatial])
    order = [2, 1, 0, *range(3, grouped.dim())]
    swapped = grouped.permute(order).reshape([channels, groups * batch, *spatial])
    found = aten.convolution(
        swapped, right.transpose(0, 1), None, dilation, padding, stride, False, [0] * len(spatial), groups
    )
    return _crop(found, weight.shape).transpose(0, 1).contiguous()


def _crop(tensor: torch.Tensor, shape: Sequence[Any]) -> torch.Tensor:
    """The first elements of each spatial dimension, as many as `shape` has there."""
    for dim in range(2, tensor.dim()):
        tensor = aten.slice.Tensor(tensor, dim, 0, shape[dim])
    return tensor


@TABLE.register("aten::conv_tbc")
def conv_tbc(self: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, pad: int = 0) -> torch.Tensor:
    """conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor

    Args:
        self: (time, batch, channels in); weight: (kernel, channels in, channels out).
    """
    if self.is_complex():
        return _complex_conv_tbc(self, weight, bias, pad)
    signal, kernel = aten.permute(self, [1, 2, 0]), aten.permute(weight, [2, 1, 0])
    result = aten.convolution(signal, kernel, bias, [1], [pad], [1], False, [0], 1)
    return aten.clone(aten.permute(result, [2, 0, 1]), memory_format=torch.contiguous_format)


def _complex_conv_tbc(self: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, pad: int) -> torch.Tensor:
    """(a + bi)(c + di) is ac - bd, and (a + b)(c + d) - ac - bd times i."""
    (a, b), (c, d) = ((torch.real(t), torch.imag(t)) for t in (self, weight))
    none = torch.zeros_like(torch.real(bias))
    real, imaginary = conv_tbc(a, c, none, pad), conv_tbc(b, d, none, pad)
    both = conv_tbc(a + b, c + d, none, pad)
    return torch.complex(real - imaginary, both - real - imaginary) + bias


@TABLE.register(
    "aten::slow_conv_dilated2d", "aten::slow_conv_dilated3d", "aten::_slow_conv2d_forward", "aten::slow_conv3d_forward"
)
def slow_conv(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[Any],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[Any] = (0,),
    dilation: Sequence[int] = (1,),
) -> torch.Tensor:
    """slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, ...) -> Tensor"""
    dims = len(kernel_size)
    stride, padding, dilation = (_spread(v, dims) for v in (stride, padding, dilation))
    kernel = aten.reshape(weight, [weight.shape[0], self.shape[-dims - 1], *kernel_size])
    return aten.convolution(self, kernel, bias, stride, padding, dilation, False, [0] * dims, 1)


@TABLE.register("aten::_slow_conv2d_backward.output_mask")
def slow_conv2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[Any],
    stride: Sequence[int],
    padding: Sequence[Any],
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """_slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, ...) -> (Tensor, Tensor, Tensor)

    The weight may be the matrix that multiplies the columns; so is its gradient.
    """
    kernel = aten.reshape(weight, [weight.shape[0], self.shape[1], *kernel_size])
    geometry = (_spread(stride, 2), _spread(padding, 2), [1, 1], False, [0, 0], 1)
    to_self, to_weight, to_bias = convolution_backward(
        grad_output, self, kernel, [weight.shape[0]], *geometry, output_mask
    )
    return to_self, None if to_weight is None else aten.reshape(to_weight, weight.shape), to_bias


@TABLE.register("aten::slow_conv_transpose2d", "aten::slow_conv_transpose3d")
def slow_conv_transpose(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[Any],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[Any] = (0,),
    output_padding: Sequence[Any] = (0,),
    dilation: Sequence[int] = (1,),
) -> torch.Tensor:
    """slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, ...) -> Tensor"""
    dims = len(kernel_size)
    stride, padding, extra, dilation = (_spread(v, dims) for v in (stride, padding, output_padding, dilation))
    return aten.convolution(self, weight, bias, stride, padding, dilation, True, extra, 1)


@TABLE.register("aten::_conv_depthwise2d", "aten::conv_depthwise3d")
def conv_depthwise(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[Any],
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[Any],
    dilation: Sequence[int],
) -> torch.Tensor:
    """_conv_depthwise2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, ...) -> Tensor"""
    dims = len(kernel_size)
    return aten.convolution(self, weight, bias, stride, padding, dilation, False, [0] * dims, self.shape[-dims - 1])
