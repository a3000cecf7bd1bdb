"""Ranked candidates for a parameter, by its type and its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from bringup_coverage.calls.schema import Parameter
from bringup_coverage.calls.tensors import SIZE, TENSORS, World, dense, indices

LEFT_OUT = object()
"""The candidate that leaves a parameter to its default."""

INTS: tuple[tuple[str, list[Any]], ...] = (
    (r"dim|axis|start_dim|batch_dim|dim0|axis0|source|destination|concat_dim|ch_axis", [0, 1, -1]),
    (r"dim1|dim2|axis1|end_dim", [1, -1, 0]),
    (r"reduction", [1, 0, 2]),
    (
        r"blank|offset|diagonal|low|start|storage_offset|index|k|padding_mode|interpolation_mode|mode|norm_mode",
        [0, 1, 2],
    ),
    (r"padding_idx|ignore_index", [-1, -100]),
    (
        r"hidden_size|input_size|size|length|steps|window_length|end|high|minlength|total_length|cell_state_size|proj_size|m|n",
        [4, 1, 0, 2],
    ),
    (
        r"chunks|split_size|sections|upscale_factor|downscale_factor|num_heads|num_head|embed_dim|num_embeddings|num_weights",
        [2, 4, 1],
    ),
    (r"quant_min", [0, -128]),
    (r"quant_max|max_size", [255, 127, 4]),
    (
        r"N|C|group|groups|HxW|num_groups|num_layers|step|stride|dilation|bins|repeats|num_samples|numel|kernel_size",
        [1, 4, 2, 16],
    ),
    (r".*", [1, 0, 2, 4, -1]),
)

LISTS: tuple[tuple[str, Callable[[int], list[Any]]], ...] = (
    (r"kernel_size|pool_size", lambda n: [[2] * n, [1] * n]),
    (r"stride", lambda n: [[2] * n, [1] * n]),
    (r"dilation|dilations", lambda n: [[1] * n]),
    (r"padding|output_padding|padding_.*|pad", lambda n: [[0] * n, [1] * n, [1, 1], [1, 1, 1, 1], [1] * 6]),
    (r"dims|permutation|order", lambda n: [list(range(n)), [0], [0, 1]]),
    (r"dim|axes|axis|dim_.*|dims_.*", lambda n: [[0], [1], [0, 1], [-1]]),
    (r"shifts|repeats|shift", lambda n: [[1] * n, [1]]),
    (r"split_sizes|split_size|sizes|indices", lambda n: [[2, 2], [1, 3]]),
    (r"normalized_shape", lambda n: [[SIZE], [SIZE] * 2]),
    (
        r"output_size|out_size|size_?|shape|self_size|input_size|input_sizes|sample_size|bins|s|expected_.*",
        lambda n: [[SIZE] * n, [2 * SIZE] * n, [2] * n, [SIZE] * 4, [SIZE] * 5, [SIZE] * 3, [SIZE] * 2, [SIZE]],
    ),
    (r".*lengths", lambda n: [[2, 2, 2, 2], [2, 2]]),
    (r".*", lambda n: [[1] * n, [SIZE] * n, [0], []]),
)

STRINGS: tuple[tuple[str, list[Any]], ...] = (
    (r"reduce|reduction", ["sum", "mean", "prod", "amax", "max", "add"]),
    (r"mode", ["constant", "reduced", "linear", "mean", "bilinear"]),
    (r"padding", ["same", "valid"]),
    (r"padding_mode|pad_mode", ["reflect", "zeros", "constant"]),
    (r"indexing", ["ij"]),
    (r"equation", ["ij,jk->ik", "ii->i"]),
    (r"interpolation", ["linear", "nearest"]),
    (r"rounding_mode", ["floor", "trunc"]),
    (r"approximate", ["none", "tanh"]),
    (r"driver", ["gelsd", "gelsy"]),
    (r"ord|p", ["fro", "nuc"]),
    (r"side", ["left", "right"]),
    (r"norm", ["ortho", "backward"]),
    (r"UPLO", ["L", "U"]),
    (r"filename|name", []),
    (r".*", ["sum", "none", "linear"]),
)

NUMBERS: tuple[tuple[str, list[Any]], ...] = (
    (r"start|low|from|min|lower|min_val", [0, 0.1]),
    (r"end|high|to|max|upper|max_val", [4, 1]),
    (r"p|dropout.*|momentum|prob", [0.5, 0.0, 1.0, 2]),
    (r"eps|epsilon|.*decay", [1e-5]),
    (r"scale.*|scales.*", [2.0, 1.0]),
    (r".*", [1, 0.5, 2, 0]),
)


def row(table: tuple[tuple[str, Any], ...], name: str) -> Any:
    """The value of the first row whose pattern is the whole name."""
    return next(value for pattern, value in table if re.fullmatch(pattern, name))


def candidates(parameter: Parameter, world: World) -> list[Any]:
    """Values to try for a parameter, best first; leaving it out comes first where that is possible."""
    found = _typed(parameter, world)
    if parameter.optional:
        found = [None, *found]
    return [LEFT_OUT, *found] if parameter.default else found


def _typed(p: Parameter, world: World) -> list[Any]:
    if p.type == "Tensor":
        return row(TENSORS, p.name)(world)
    if p.type == "List[Tensor]":
        return [[first, first.clone()] for first in row(TENSORS, p.name)(world)]
    if p.type == "List[Optional[Tensor]]":
        return [[indices(1)], [indices(1), indices(1)]]
    if p.type == "int":
        return list(row(INTS, p.name))
    if p.type == "List[int]":
        return row(LISTS, p.name)(p.length or _count(p.name, world))
    if p.type in ("float", "number"):
        values = row(NUMBERS, p.name)
        return [float(v) for v in values] if p.type == "float" else list(values)
    if p.type in ("List[float]", "List[number]"):
        return [[2.0] * (p.length or _count(p.name, world)), [1.0] * 2, [1.0]]
    if p.type == "bool":
        return [False, True]
    if p.type == "List[bool]":
        return [[True] * (p.length or 2), [True] * 3, [False] * (p.length or 2)]
    if p.type == "str":
        return list(row(STRINGS, p.name))
    return _objects(p, world)


_SPATIAL = re.compile(r"kernel_size|stride|padding|output_padding|dilation|scale_factors")


def _count(name: str, world: World) -> int:
    """How many numbers a list of no fixed length has: one a spatial dimension, else one a dimension."""
    spatial = _SPATIAL.fullmatch(name) and world.rank > 2
    return max(world.rank - 2 if spatial else world.rank, 1)


def _objects(p: Parameter, world: World) -> list[Any]:
    match p.type:
        case "ScalarType":
            return [torch.float32, torch.int64, torch.bool, torch.float64, torch.complex64, torch.int8]
        case "Layout":
            return [torch.strided]
        case "MemoryFormat":
            return [torch.contiguous_format, torch.preserve_format, torch.channels_last]
        case "Device":
            return [torch.device("cpu")]
        case "Generator":
            return [torch.Generator().manual_seed(0)]
        case "Storage":
            return [dense(2, world.dtype).untyped_storage()]
        case _:
            return []
