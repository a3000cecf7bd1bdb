"""Ranked candidates for a tensor by its name, in a world of tensors whose sizes are all equal.

In a world of rank r every tensor has r dimensions of size 4, so that products, windows of 2, groups of 2 and
broadcasting fit without knowing the operator. Values lie in (0.1, 0.9) and diagonals dominate, so that logarithms,
probabilities and inverses are finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

SIZE = 4


@dataclass(frozen=True)
class World:
    """What the tensors of a synthesized call look like, where their names say nothing else.

    Attributes:
        rank: number of dimensions.
        dtype: of its tensors.
    """

    rank: int
    dtype: torch.dtype


def dense(rank: int, dtype: torch.dtype, salt: int = 0) -> torch.Tensor:
    """A tensor of `rank` dimensions of size 4; see the module's docstring for its values."""
    return shaped((SIZE,) * rank, dtype, salt)


def shaped(shape: tuple[int, ...], dtype: torch.dtype, salt: int = 0) -> torch.Tensor:
    """Like `dense` for any shape; another `salt`, other values."""
    generator = torch.Generator().manual_seed(17 + salt)
    if dtype is torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(1, SIZE, shape, generator=generator).to(dtype)
    values = torch.rand(shape, generator=generator) * 0.3 + 0.1
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        values = values + 0.5 * torch.eye(shape[-1])
    return values.to(dtype)


def indices(rank: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Every position of a dimension of size 4, over and over."""
    return (torch.arange(SIZE**rank) % SIZE).reshape((SIZE,) * rank).to(dtype)


def _positions(w: World) -> list[torch.Tensor]:
    fewer = indices(max(w.rank - 1, 0))
    return [indices(w.rank), indices(1), dense(w.rank, w.dtype), fewer, indices(1, torch.int32)]


def _pivots(w: World) -> list[torch.Tensor]:
    one = torch.arange(1, SIZE + 1, dtype=torch.int32)
    return [one, one.expand((SIZE,) * max(w.rank - 1, 1)).contiguous()]


def _masks(w: World) -> list[torch.Tensor]:
    return [dense(w.rank, torch.bool), dense(w.rank, w.dtype), dense(1, torch.bool)]


def _zero_points(w: World) -> list[torch.Tensor]:
    return [torch.zeros(1, dtype=torch.int32), torch.zeros((), dtype=torch.int64), torch.zeros(SIZE, dtype=torch.int32)]


def _channels(w: World) -> list[torch.Tensor]:
    return [dense(1, w.dtype, 3), dense(w.rank, w.dtype, 3), torch.ones(())]


def _states(w: World) -> list[torch.Tensor]:
    return [torch.ones(()), torch.zeros((), dtype=torch.int32), dense(1, w.dtype)]


def _operands(w: World) -> list[torch.Tensor]:
    return [dense(w.rank, w.dtype, 7), dense(0, w.dtype, 7), dense(1, w.dtype, 7)]


def _weights(w: World) -> list[torch.Tensor]:
    """Windows of 4, windows of 2, a vector, a matrix."""
    kernel = shaped((SIZE,) * min(w.rank, 2) + (2,) * (w.rank - 2), w.dtype, 7)
    return [dense(w.rank, w.dtype, 7), kernel, dense(1, w.dtype, 7), dense(2, w.dtype, 7)]


def _grids(w: World) -> list[torch.Tensor]:
    """Positions to sample an image of the world's rank at: their last dimension is the number of coordinates."""
    return [shaped((SIZE,) * (w.rank - 1) + (w.rank - 2,), w.dtype)] if w.rank > 2 else [dense(w.rank, w.dtype)]


def _anything(w: World) -> list[torch.Tensor]:
    return [dense(w.rank, w.dtype, 7), dense(1, w.dtype, 7), dense(2, w.dtype, 7), dense(0, w.dtype), indices(w.rank)]


TENSORS: tuple[tuple[str, Callable[[World], list[torch.Tensor]]], ...] = (
    (r"batch_sizes", lambda w: [torch.tensor([SIZE] * SIZE)]),
    (r".*lengths", lambda w: [torch.tensor([2, 2, 2, 2]), torch.tensor([2, 2])]),
    (
        r"offsets|offset2bag|bag_size|c(row|col)_indices",
        lambda w: [torch.tensor([0, 2]), torch.tensor([0, 1, 2, 3, 4])],
    ),
    (r"indices|index|idx|ind|max_indices|targets?|labels?|permutation|sorting_indices", _positions),
    (r"(LU_)?pivots", _pivots),
    (r"mask|condition|.*_mask|is_.*|cond", _masks),
    (r"zero_point", _zero_points),
    (r"running_.*|save_.*|mean|var|inv_?std|std|rstd|gamma|beta|bias|b_[ih]h|b_hr|scales?", _channels),
    (r"w_[ih]h|w_hr", lambda w: [dense(2, w.dtype, 5)]),
    (r"repeats|counts?|state_steps?|num_.*", lambda w: [torch.tensor([1, 2, 1, 2]), torch.ones(()), torch.tensor(2)]),
    (r"found_inf|grad_scale|growth_tracker|lr|step|dropout_.*", _states),
    (r"value|other|fill_value|source|src", _operands),
    (r"scalars", lambda w: [torch.ones(2), torch.ones(1)]),
    (r"high|end|to", lambda w: [torch.tensor(SIZE), torch.tensor(float(SIZE))]),
    (r"size|shape|shape_tensor", lambda w: [torch.tensor([SIZE] * w.rank)]),
    (r"grid", _grids),
    (r"weight", _weights),
    (r".*", _anything),
)
"""The first row whose pattern is the whole name decides."""
