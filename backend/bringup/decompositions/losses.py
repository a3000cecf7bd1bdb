"""Losses and their gradients that PyTorch's own table does not hold."""

from __future__ import annotations

from typing import Any

import torch

from bringup.decompositions.registry import Decompositions
from bringup.decompositions.special_series import is_half
from bringup.torch_internals import load_linear_cross_entropy

TABLE = Decompositions("losses")
load_linear_cross_entropy()
aten = torch.ops.aten

_NONE, _MEAN = 0, 1


def _rows(self: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores [batch, classes] and targets [batch, -1] of a call that may have no batch dimension."""
    batch = 1 if self.dim() < 2 else self.shape[0]
    return aten.reshape(self, [batch, self.shape[-1] if self.dim() else 1]), aten.reshape(target, [batch, -1])


def _of_samples(grad_output: torch.Tensor, rows: torch.Tensor, reduction: int) -> torch.Tensor:
    """The gradient of each sample's loss, [batch, 1] or 0-dim."""
    if reduction == _NONE:
        return aten.reshape(grad_output, [-1, 1])
    return aten.div(grad_output, rows.shape[0]) if reduction == _MEAN else grad_output


@TABLE.register("aten::multi_margin_loss_backward")
def multi_margin_loss_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    target: torch.Tensor,
    p: Any,
    margin: Any,
    weight: torch.Tensor | None = None,
    reduction: int = 1,
) -> torch.Tensor:
    """multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight, int reduction) -> Tensor

    The loss of a sample is 1/C times the sum over i other than y of w_y max(0, margin - x_y + x_i)^p.
    """
    if self.numel() == 0:
        return aten.full_like(self, 0)
    rows, wanted = _rows(self, target)
    gap = rows + (margin - aten.gather(rows, 1, wanted))
    other = aten.ne(aten.arange(rows.shape[1], device=self.device), wanted)
    active = aten._to_copy(aten.bitwise_and(other, gap > 0), dtype=self.dtype)
    slope = active if p == 1 else active * gap * 2
    if weight is not None:
        slope = slope * aten.reshape(aten.index(weight, [aten.reshape(wanted, [-1])]), [-1, 1])
    slope = aten.scatter(slope, 1, wanted, -aten.sum(slope, [1], True))
    return aten.reshape(slope / rows.shape[1] * _of_samples(grad_output, rows, reduction), self.shape)


def _label_gaps(rows: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """1 - x_y + x_i as [batch, label, class], the labels with 0 after the first -1, and where they count, [batch, label]."""
    ended = aten.cumsum(aten._to_copy(target < 0, dtype=torch.int64), 1) > 0
    labels = torch.where(ended, 0, target)
    return (
        aten.unsqueeze(rows, 1) - aten.unsqueeze(aten.gather(rows, 1, labels), 2) + 1,
        labels,
        aten.bitwise_not(ended),
    )


@TABLE.register("aten::multilabel_margin_loss_forward")
def multilabel_margin_loss_forward(
    self: torch.Tensor, target: torch.Tensor, reduction: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)

    PyTorch's own entry counts class 0 as a label for every place after the first -1.
    """
    if self.numel() == 0:
        return NotImplemented
    rows, wanted = _rows(self, target)
    gap, labels, counts = _label_gaps(rows, wanted)
    is_target = aten.scatter_add(aten.full_like(rows, 0), 1, labels, aten._to_copy(counts, dtype=self.dtype)) > 0
    counted = aten.bitwise_and(aten.unsqueeze(counts, 2), aten.bitwise_not(aten.unsqueeze(is_target, 1)))
    losses = aten.sum(torch.where(aten.bitwise_and(counted, gap > 0), gap, 0.0), [1, 2]) / rows.shape[1]
    if reduction == _NONE:
        output = aten.reshape(losses, target.shape[:-1])
    else:
        output = aten.sum(losses, [0]) / (rows.shape[0] if reduction == _MEAN else 1)
    return output, aten._to_copy(aten.reshape(is_target, target.shape), dtype=self.dtype)


@TABLE.register("aten::multilabel_margin_loss_backward")
def multilabel_margin_loss_backward(
    grad_output: torch.Tensor, self: torch.Tensor, target: torch.Tensor, reduction: int, is_target: torch.Tensor
) -> torch.Tensor:
    """multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target) -> Tensor

    The loss of a sample is 1/C times the sum over labels y and other classes i of max(0, 1 - x_y + x_i); the labels end at the first -1.
    """
    if self.numel() == 0:
        return aten.full_like(self, 0)
    rows, labels = _rows(self, target)
    gap, labels, counts = _label_gaps(rows, labels)
    counts = aten.bitwise_and(aten.unsqueeze(aten.reshape(is_target, rows.shape) == 0, 1), aten.unsqueeze(counts, 2))
    active = aten._to_copy(aten.bitwise_and(counts, gap > 0), dtype=self.dtype)
    slope = aten.scatter_add(aten.sum(active, [1]), 1, labels, -aten.sum(active, [2]))
    return aten.reshape(slope / rows.shape[1] * _of_samples(grad_output, rows, reduction), self.shape)


def _sample_weights(
    target: torch.Tensor, weight: torch.Tensor | None, ignore_index: int, like: torch.Tensor
) -> torch.Tensor:
    """The class weight of each sample, 0 where the target is ignored."""
    kept = target != ignore_index
    if weight is None:
        return aten._to_copy(kept, dtype=like.dtype)
    chosen = aten._to_copy(aten.index(weight, [torch.where(kept, target, 0)]), dtype=like.dtype)
    return torch.where(kept, chosen, 0.0)


def _logits(
    input_: torch.Tensor, linear_weight: torch.Tensor, linear_bias: torch.Tensor | None, dtype: torch.dtype
) -> torch.Tensor:
    logits = aten.mm(aten._to_copy(input_, dtype=dtype), aten.t(aten._to_copy(linear_weight, dtype=dtype)))
    return logits if linear_bias is None else logits + aten._to_copy(linear_bias, dtype=dtype)


def _accumulator(input_: torch.Tensor) -> torch.dtype:
    return torch.float32 if is_half(input_.dtype) else input_.dtype


@TABLE.register("torch_nn::_linear_cross_entropy_batch_chunked")
def linear_cross_entropy(
    input: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    linear_bias: torch.Tensor | None,
    weight: torch.Tensor | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    batch_chunk_size: int,
    acc_policy: str,
    acc_dtype: torch.dtype,
    allow_retain_graph: bool,
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> Any:
    """torch_nn::_linear_cross_entropy_batch_chunked(...) -> (Tensor loss, Tensor grad_input, Tensor grad_weight, Tensor grad_bias)

    The gradient of the weighted mean or sum of -log softmax by the logits is w (softmax - one-hot); chunks bound eager's memory only.
    """
    if label_smoothing != 0.0 or reduction not in ("mean", "sum"):
        return NotImplemented
    dtype = _accumulator(input)
    logits = _logits(input, linear_weight, linear_bias, dtype)
    weights = _sample_weights(target, weight, ignore_index, logits)
    if reduction == "mean":
        weights = weights / aten.sum(weights, [0])
    log_probabilities = aten._log_softmax(logits, 1, False)
    place = aten.unsqueeze(torch.where(target != ignore_index, target, 0), 1)
    scale = aten.unsqueeze(weights, 1)
    loss = -aten.sum(aten.gather(log_probabilities, 1, place) * scale, [0, 1])
    slope = aten.scatter_add(aten.exp(log_probabilities) * scale, 1, place, -scale)
    nothing = aten.full.default([0, 0], 0, dtype=input.dtype, device=input.device)
    grad_input = aten.mm(slope, aten._to_copy(linear_weight, dtype=dtype)) if compute_input_grad else nothing
    grad_weight = aten.mm(aten.t(slope), aten._to_copy(input, dtype=dtype)) if compute_linear_weight_grad else nothing
    grad_bias = (
        aten.sum(slope, [0])
        if compute_linear_bias_grad
        else aten.full.default([0], 0, dtype=input.dtype, device=input.device)
    )
    return tuple(aten._to_copy(t, dtype=input.dtype) for t in (loss, grad_input, grad_weight, grad_bias))


@TABLE.register("torch_nn::_linear_cross_entropy_batch_chunked_no_reduction")
def linear_cross_entropy_of_samples(
    input: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    linear_bias: torch.Tensor | None,
    weight: torch.Tensor | None,
    ignore_index: int,
    batch_chunk_size: int,
    acc_policy: str,
    acc_dtype: torch.dtype,
) -> torch.Tensor:
    """torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(...) -> Tensor"""
    logits = _logits(input, linear_weight, linear_bias, _accumulator(input))
    place = aten.unsqueeze(torch.where(target != ignore_index, target, 0), 1)
    chosen = aten.squeeze(aten.gather(aten._log_softmax(logits, 1, False), 1, place), 1)
    return aten._to_copy(-chosen * _sample_weights(target, weight, ignore_index, logits), dtype=input.dtype)
