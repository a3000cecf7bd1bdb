"""Optimizer steps on lists of tensors, and the loss scaling of mixed precision that goes with them.

* Adam: Kingma and Ba, 2015; with decoupled weight decay Loshchilov and Hutter, 2019; AMSGrad: Reddi, Kale and Kumar, 2018.
* SGD with momentum: Sutskever, Martens, Dahl and Hinton, 2013. Adagrad: Duchi, Hazan and Singer, 2011.
* Loss scaling: Micikevicius et al., "Mixed Precision Training", 2018.

Factors that depend on the step are computed in float64, the elements of half-precision tensors in float32, as eager does. A step with
`found_inf` set leaves everything as it was, gradients too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

from bringup.decompositions.half_precision import narrowed, widened
from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fused optimizers")
aten = torch.ops.aten

Tensors: TypeAlias = Sequence[torch.Tensor]
Number: TypeAlias = float | torch.Tensor


def _double(value: Number, like: torch.Tensor) -> torch.Tensor:
    """A number, or a tensor of one element, as a 0-dim float64 tensor."""
    if isinstance(value, torch.Tensor):
        return aten._to_copy(aten.reshape(value, []), dtype=torch.float64)
    return aten.full.default([], value, dtype=torch.float64, device=like.device)


def _times(tensor: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """`tensor` times a 0-dim float64 factor that is rounded to its dtype first."""
    return tensor * aten._to_copy(factor, dtype=tensor.dtype)


def _kept(old: torch.Tensor, new: torch.Tensor, found_inf: torch.Tensor | None) -> torch.Tensor:
    """The new value in the dtype of the old one, or the old one where the step is left out."""
    new = narrowed(new, old.dtype)
    return new if found_inf is None else torch.where(aten.reshape(found_inf, []) == 1, old, new)


def _gradient(
    grad: torch.Tensor, parameter: torch.Tensor, grad_scale: torch.Tensor | None, maximize: bool, weight_decay: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient without its scale, which is also a result, and what the step goes along."""
    unscaled = widened(grad)
    if grad_scale is not None:
        unscaled = unscaled / aten._to_copy(aten.reshape(grad_scale, []), dtype=unscaled.dtype)
    along = -unscaled if maximize else unscaled
    return unscaled, along + parameter * weight_decay if weight_decay != 0 else along


def _copies(tensors: Tensors) -> list[torch.Tensor]:
    return [aten.clone(t) for t in tensors]


def _adam(decoupled: bool) -> Callable[..., Any]:
    def step(
        self: Tensors,
        grads: Tensors,
        exp_avgs: Tensors,
        exp_avg_sqs: Tensors,
        max_exp_avg_sqs: Tensors,
        state_steps: Tensors,
        *,
        lr: Number,
        beta1: float,
        beta2: float,
        weight_decay: float,
        eps: float,
        amsgrad: bool,
        maximize: bool,
        grad_scale: torch.Tensor | None = None,
        found_inf: torch.Tensor | None = None,
    ) -> tuple[list[torch.Tensor], ...]:
        """_fused_adam(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, ...) -> (Tensor[], Tensor[], Tensor[], Tensor[], Tensor[])"""
        results: tuple[list[torch.Tensor], ...] = ([], [], [], [], [] if amsgrad else _copies(max_exp_avg_sqs))
        for i, (old, grad) in enumerate(zip(self, grads, strict=True)):
            rate, steps = _double(lr, old), _double(state_steps[i], old)
            parameter = widened(old)
            unscaled, along = _gradient(grad, parameter, grad_scale, maximize, 0 if decoupled else weight_decay)
            if decoupled and weight_decay != 0:
                parameter = _times(parameter, 1 - rate * weight_decay)
            mean = widened(exp_avgs[i]) * beta1 + along * (1 - beta1)
            square = widened(exp_avg_sqs[i]) * beta2 + along * along * (1 - beta2)
            largest = torch.maximum(widened(max_exp_avg_sqs[i]), square) if amsgrad else square
            correction = torch.sqrt(1 - torch.pow(_double(beta2, old), steps))
            below = torch.sqrt(largest) / aten._to_copy(correction, dtype=largest.dtype) + eps
            size = rate / (1 - torch.pow(_double(beta1, old), steps))
            new = [parameter - _times(mean, size) / below, unscaled, mean, square, largest]
            olds = [old, grad, exp_avgs[i], exp_avg_sqs[i], *([max_exp_avg_sqs[i]] if amsgrad else [])]
            for result, before, after in zip(results, olds, new, strict=False):
                result.append(_kept(before, after, found_inf))
        return results

    return step


TABLE.register("aten::_fused_adam", "aten::_fused_adam.tensor_lr")(_adam(decoupled=False))
TABLE.register("aten::_fused_adamw", "aten::_fused_adamw.tensor_lr")(_adam(decoupled=True))


@TABLE.register("aten::_fused_sgd", "aten::_fused_sgd.tensor_lr")
def fused_sgd(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    *,
    weight_decay: float,
    momentum: float,
    lr: Number,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """_fused_sgd(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, ...) -> (Tensor[], Tensor[], Tensor[])"""
    new: tuple[list[torch.Tensor], ...] = ([], [])
    buffers = [] if momentum != 0 else _copies(momentum_buffer_list)
    for i, (old, grad) in enumerate(zip(self, grads, strict=True)):
        parameter = widened(old)
        unscaled, along = _gradient(grad, parameter, grad_scale, maximize, weight_decay)
        if momentum != 0:
            before = momentum_buffer_list[i]
            buffer = along if is_first_step else widened(before) * momentum + along * (1 - dampening)
            buffers.append(_kept(before, buffer, found_inf))
            along = along + buffer * momentum if nesterov else buffer
        new[0].append(_kept(old, parameter - _times(along, _double(lr, old)), found_inf))
        new[1].append(_kept(grad, unscaled, found_inf))
    return new[0], new[1], buffers


@TABLE.register("aten::_fused_adagrad")
def fused_adagrad(
    self: Tensors, grads: Tensors, state_sums: Tensors, state_steps: Tensors, **options: Any
) -> tuple[list[torch.Tensor], ...]:
    """_fused_adagrad(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, ...) -> (Tensor[], Tensor[], Tensor[], Tensor[])"""
    return *fused_adagrad_tensor_lr(self, grads, state_sums, state_steps, **options), _copies(state_steps)


@TABLE.register("aten::_fused_adagrad.tensor_lr")
def fused_adagrad_tensor_lr(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    *,
    lr: Number,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """_fused_adagrad.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] state_sums, ...) -> (Tensor[], Tensor[], Tensor[])"""
    new: tuple[list[torch.Tensor], ...] = ([], [], [])
    for i, (old, grad) in enumerate(zip(self, grads, strict=True)):
        parameter = widened(old)
        unscaled, along = _gradient(grad, parameter, grad_scale, maximize, weight_decay)
        total = widened(state_sums[i]) + along * along
        rate = _double(lr, old) / (1 + (_double(state_steps[i], old) - 1) * lr_decay)
        parameter = parameter - _times(along, rate) / (torch.sqrt(total) + eps)
        for result, before, after in zip(new, (old, grad, state_sums[i]), (parameter, unscaled, total), strict=True):
            result.append(_kept(before, after, found_inf))
    return new[0], new[1], new[2]


@TABLE.register("aten::_amp_foreach_non_finite_check_and_unscale")
def amp_foreach_non_finite_check_and_unscale(
    self: Tensors, found_inf: torch.Tensor, inv_scale: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """_amp_foreach_non_finite_check_and_unscale(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> (Tensor[], Tensor found_inf_out)"""
    found, results = aten.clone(found_inf), []
    for tensor in self:
        wide = widened(tensor)
        found = torch.where(torch.any(~torch.isfinite(wide)), 1.0, found)
        results.append(narrowed(wide * aten._to_copy(aten.reshape(inv_scale, []), dtype=wide.dtype), tensor.dtype))
    return results, found


@TABLE.register("aten::_amp_update_scale")
def amp_update_scale(
    self: torch.Tensor,
    growth_tracker: torch.Tensor,
    found_inf: torch.Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """_amp_update_scale(Tensor self, Tensor growth_tracker, Tensor found_inf, float, float, int) -> (Tensor, Tensor growth_tracker_out)

    The scale shrinks after a step with infinities, and grows after so many without, unless it would become infinite.
    """
    exact, bad = aten._to_copy(self, dtype=torch.float64), aten.reshape(found_inf, []) != 0
    smaller, larger = (aten._to_copy(exact * f, dtype=self.dtype) for f in (scale_backoff_factor, scale_growth_factor))
    steps = growth_tracker + 1
    due = steps == growth_interval
    grown = torch.where(aten.reshape(due, self.shape) & torch.isfinite(larger), larger, self)
    return torch.where(bad, smaller, grown), torch.where(bad | due, 0, steps)
