"""Connectionist temporal classification (Graves et al., ICML 2006): forward and backward variables in log space.

A labelling of length S is extended with blanks to L = 2 S + 1 places; alpha and beta run over the T steps, whose number is
known when the graph is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("losses_ctc")
aten = torch.ops.aten

Lengths: TypeAlias = Sequence[int] | torch.Tensor


def _lengths(lengths: Lengths, device: torch.device) -> torch.Tensor:
    if isinstance(lengths, torch.Tensor):
        return aten._to_copy(lengths, dtype=torch.int64, device=device)
    if not lengths:
        return aten.full.default([0], 0, dtype=torch.int64, device=device)
    return aten.cat([aten.full.default([1], int(n), dtype=torch.int64, device=device) for n in lengths])


def _longest(targets: torch.Tensor, lengths: Lengths) -> int:
    """How many labels a sample may have; with lengths in a tensor, what the targets have room for."""
    if isinstance(lengths, torch.Tensor):
        return int(targets.shape[-1])
    return max(lengths, default=0)


def _labels(targets: torch.Tensor, counts: torch.Tensor, longest: int, blank: int) -> torch.Tensor:
    """The labels with blanks around them, [batch, 2 longest + 1]; places beyond a sample's own labels are blank."""
    batch = counts.shape[0]
    blanks = aten.full.default([batch, longest, 1], blank, dtype=torch.int64, device=targets.device)
    if longest == 0:
        return aten.full.default([batch, 1], blank, dtype=torch.int64, device=targets.device)
    place = aten.unsqueeze(aten.arange(longest, device=targets.device), 0)
    kept = place < aten.unsqueeze(counts, 1)
    values = aten._to_copy(targets, dtype=torch.int64)
    if targets.dim() == 1:  # all samples' labels, one after the other
        start = aten.unsqueeze(aten.cumsum(counts, 0) - counts, 1)
        values = aten.index(values, [torch.where(kept, start + place, 0)])
    else:
        values = aten.slice(values, 1, 0, longest)
    pairs = aten.cat([blanks, aten.unsqueeze(torch.where(kept, values, blank), 2)], 2)
    return aten.cat([aten.reshape(pairs, [batch, 2 * longest]), aten.slice(aten.select(blanks, 2, 0), 1, 0, 1)], 1)


def _entries(labels: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """log of whether place s may be entered from s - 2, s - 1 and s, [batch, L, 3]: two back only past a blank to another label."""
    size = labels.shape[1]
    head = aten.full.default([labels.shape[0], min(2, size)], 0, dtype=torch.bool, device=labels.device)
    differs = aten.cat([head, aten.slice(labels, 1, 2, size) != aten.slice(labels, 1, 0, max(size - 2, 0))], 1)
    closed = aten.full.default(labels.shape, -math.inf, dtype=like.dtype, device=like.device)
    opened = aten.full.default(labels.shape, 0, dtype=like.dtype, device=like.device)
    return aten.cat([aten.unsqueeze(t, 2) for t in (torch.where(differs, opened, closed), opened, opened)], 2)


def _sum_of_exp(terms: torch.Tensor) -> torch.Tensor:
    """log of the sum of exp over the last dimension; -inf where all are."""
    largest = aten.amax(terms, [-1], True)
    offset = torch.where(largest == -math.inf, 0.0, largest)
    return aten.log(aten.sum(aten.exp(terms - offset), [-1])) + aten.squeeze(offset, -1)


def _entered(before: torch.Tensor, entries: torch.Tensor) -> torch.Tensor:
    """One step of alpha without its emission: [batch, L] from the step before."""
    batch, size = before.shape
    padded = aten.constant_pad_nd(before, [2, 0], -math.inf)
    windows = aten.as_strided(padded, [batch, size, 3], [size + 2, 1, 1])
    return _sum_of_exp(windows + entries)


def _left(after: torch.Tensor, exits: torch.Tensor) -> torch.Tensor:
    """One step of beta without its emission; `exits` is `entries` of the place that is gone to."""
    batch, size = after.shape
    padded = aten.constant_pad_nd(after, [0, 2], -math.inf)
    windows = aten.as_strided(padded, [batch, size, 3], [size + 2, 1, 1])
    return _sum_of_exp(windows + exits)


def _emissions(log_probs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The log probability of each place's label at each step, [T, batch, L]."""
    return aten.gather(log_probs, 2, aten.expand(aten.unsqueeze(labels, 0), [log_probs.shape[0], *labels.shape]))


def _places(labels: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Whether a place is one where a labelling may end: the last label or the blank after it, [batch, L]."""
    place = aten.unsqueeze(aten.arange(labels.shape[1], device=labels.device), 0)
    last = aten.unsqueeze(2 * counts, 1)
    return aten.bitwise_and(place <= last, place >= last - 1)


@TABLE.register("aten::_ctc_loss", "aten::_ctc_loss.Tensor")
def _ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank, bool zero_infinity) -> (Tensor, Tensor)

    The negative log likelihood [batch] and log alpha [batch, T, L] (Graves, equations 6 to 8).
    """
    steps, batch = log_probs.shape[0], log_probs.shape[1]
    if log_probs.dim() != 3 or type(steps) is not int:
        return NotImplemented
    device = log_probs.device
    durations, counts = _lengths(input_lengths, device), _lengths(target_lengths, device)
    labels = _labels(targets, counts, _longest(targets, target_lengths), blank)
    entries = _entries(labels, log_probs)
    emissions = _emissions(log_probs, labels)
    size = labels.shape[1]
    closed = aten.full.default([batch, size], -math.inf, dtype=log_probs.dtype, device=device)
    place = aten.unsqueeze(aten.arange(size, device=device), 0)
    may_start = aten.bitwise_and(place < 2, place <= aten.unsqueeze(2 * counts, 1))
    rows: list[torch.Tensor] = []
    for t in range(steps):
        emission = aten.select(emissions, 0, t)
        rows.append(_entered(rows[-1], entries) + emission if rows else torch.where(may_start, emission, closed))
    if not rows:
        alpha = aten.full.default([batch, 0, size], 0, dtype=log_probs.dtype, device=device)
        at_end = closed
    else:
        alpha = aten.cat([aten.unsqueeze(r, 1) for r in rows], 1)
        last = aten.reshape(torch.where(durations > 0, durations - 1, 0), [-1, 1, 1])
        at_end = aten.squeeze(aten.gather(alpha, 1, aten.expand(last, [batch, 1, size])), 1)
    loss = -_sum_of_exp(torch.where(_places(labels, counts), at_end, closed))
    nothing = torch.where(counts == 0, 0.0, aten.full_like(loss, math.inf))
    return torch.where(durations == 0, nothing, loss), alpha


@TABLE.register("aten::_ctc_loss_backward", "aten::_ctc_loss_backward.Tensor")
def _ctc_loss_backward(
    grad: torch.Tensor,
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    neg_log_likelihood: torch.Tensor,
    log_alpha: torch.Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> torch.Tensor:
    """_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, Tensor neg_log_likelihood, ...) -> Tensor

    With beta (Graves, equations 9 to 11): exp(log p) minus the probability that step t emits the class, given the labelling
    (equation 15, which takes the gradient through the softmax).
    """
    steps, batch = log_probs.shape[0], log_probs.shape[1]
    if log_probs.dim() != 3 or type(steps) is not int:
        return NotImplemented
    device = log_probs.device
    durations, counts = _lengths(input_lengths, device), _lengths(target_lengths, device)
    size = log_alpha.shape[2]
    labels = _labels(targets, counts, (size - 1) // 2, blank)
    emissions = _emissions(log_probs, labels)
    entries = _entries(labels, log_probs)
    exits = _exits(entries)
    closed = aten.full.default([batch, size], -math.inf, dtype=log_probs.dtype, device=device)
    ends = _places(labels, counts)
    rows: list[torch.Tensor] = []
    for t in reversed(range(steps)):
        emission = aten.select(emissions, 0, t)
        ending = aten.bitwise_and(ends, aten.unsqueeze(durations == t + 1, 1))
        going = _left(rows[-1], exits) if rows else closed
        rows.append(torch.where(ending, emission, going + emission))
    if not rows:
        return aten.full_like(log_probs, 0)
    beta = aten.cat([aten.unsqueeze(r, 0) for r in reversed(rows)], 0)
    alpha = aten.permute(log_alpha, [1, 0, 2])
    within = aten.unsqueeze(aten.arange(steps, device=device), 1) < aten.unsqueeze(durations, 0)  # [T, batch]
    share = aten.exp(alpha + beta - emissions + aten.reshape(neg_log_likelihood, [1, -1, 1]))
    share = torch.where(aten.unsqueeze(within, 2), share, 0.0)
    index = aten.expand(aten.unsqueeze(labels, 0), [steps, batch, size])
    slope = aten.scatter_add(aten.exp(log_probs), 2, index, -share) * aten.reshape(grad, [1, -1, 1])
    possible = aten.unsqueeze(neg_log_likelihood != math.inf, 0)
    if zero_infinity:
        within = aten.bitwise_and(within, possible)
    else:
        slope = torch.where(aten.unsqueeze(possible, 2), slope, math.nan)
    return torch.where(aten.unsqueeze(within, 2), slope, 0.0)


def _exits(entries: torch.Tensor) -> torch.Tensor:
    """log of whether place s may be left to s, s + 1 and s + 2, [batch, L, 3]."""
    size = entries.shape[1]
    two_back = aten.select(entries, 2, 0)
    skips = aten.cat(
        [aten.slice(two_back, 1, 2, size), aten.slice(aten.full_like(two_back, -math.inf), 1, 0, min(2, size))], 1
    )
    stays = aten.full_like(skips, 0)
    return aten.cat([aten.unsqueeze(t, 2) for t in (stays, stays, skips)], 2)
