"""The decompositions that lower PyTorch's operators onto the required kernels, one file per operator family.

To add one, register a function in its family's file; to add a family, make a file with a `TABLE` and name it in `FAMILIES`.
"""

from __future__ import annotations

from functools import cache

from bringup.decompositions import (
    activations,
    attention,
    batch_norm,
    batch_norm_statistics,
    complex_numbers,
    convolution,
    creation,
    cumulative,
    dirichlet,
    distances,
    distributions,
    embedding,
    embedding_bag,
    embedding_bag_backward,
    fake_quantize,
    fake_quantize_learnable,
    fake_quantize_observer,
    fft,
    foreach,
    fused_optimizers,
    grid_sample,
    grouped_matmul,
    histograms,
    indexing,
    interpolation,
    linalg,
    linalg_factor,
    linalg_ldl,
    linalg_products,
    linalg_solve,
    losses,
    losses_ctc,
    norms,
    padding,
    pointwise,
    pooling_average,
    pooling_fractional,
    pooling_max,
    pooling_max_backward,
    prims,
    prims_reductions,
    prims_views,
    random,
    ranges,
    reductions,
    rnn,
    rnn_layer,
    scaled_mm,
    search,
    segments,
    sorting,
    special,
    special_airy,
    special_bessel,
    special_bessel_modified,
    special_gamma,
    special_incomplete_gamma,
    special_polynomials,
    transformer,
    variances,
    views,
    windows,
)
from bringup.decompositions.foreach import foreach_rules
from bringup.decompositions.layouts import laid_out
from bringup.decompositions.pytorch import usable_entries
from bringup.decompositions.registry import Decomposition, Decompositions, merge
from bringup.decompositions.rules import schema_rules
from bringup.torch_internals import OpOverload

__all__ = ["FAMILIES", "Decomposition", "Decompositions", "arrived", "default_decompositions"]

FAMILIES: tuple[Decompositions, ...] = (
    activations.TABLE,
    attention.TABLE,
    batch_norm.TABLE,
    batch_norm_statistics.TABLE,
    complex_numbers.TABLE,
    convolution.TABLE,
    creation.TABLE,
    cumulative.TABLE,
    distributions.TABLE,
    dirichlet.TABLE,
    distances.TABLE,
    embedding.TABLE,
    embedding_bag.TABLE,
    embedding_bag_backward.TABLE,
    fake_quantize.TABLE,
    fake_quantize_learnable.TABLE,
    fake_quantize_observer.TABLE,
    fft.TABLE,
    foreach.TABLE,
    fused_optimizers.TABLE,
    grid_sample.TABLE,
    grouped_matmul.TABLE,
    histograms.TABLE,
    indexing.TABLE,
    interpolation.TABLE,
    linalg.TABLE,
    linalg_factor.TABLE,
    linalg_ldl.TABLE,
    linalg_products.TABLE,
    linalg_solve.TABLE,
    losses.TABLE,
    losses_ctc.TABLE,
    norms.TABLE,
    padding.TABLE,
    pointwise.TABLE,
    pooling_average.TABLE,
    pooling_fractional.TABLE,
    pooling_max.TABLE,
    pooling_max_backward.TABLE,
    prims.TABLE,
    prims_reductions.TABLE,
    prims_views.TABLE,
    random.TABLE,
    ranges.TABLE,
    reductions.TABLE,
    rnn.TABLE,
    rnn_layer.TABLE,
    scaled_mm.TABLE,
    search.TABLE,
    segments.TABLE,
    sorting.TABLE,
    special.TABLE,
    special_airy.TABLE,
    transformer.TABLE,
    special_bessel.TABLE,
    special_bessel_modified.TABLE,
    special_gamma.TABLE,
    special_incomplete_gamma.TABLE,
    special_polynomials.TABLE,
    variances.TABLE,
    views.TABLE,
    windows.TABLE,
)


@cache
def _beside_ours() -> dict[OpOverload, Decomposition]:
    return {**usable_entries(), **schema_rules(), **foreach_rules()}


@cache
def _with(arrived: frozenset[OpOverload]) -> dict[OpOverload, Decomposition]:
    table = {**_beside_ours(), **merge(FAMILIES)}
    return {overload: laid_out(overload, fn) for overload, fn in table.items()}


def arrived() -> frozenset[OpOverload]:
    """The operators of other packages that a family has an entry for, and that exist now."""
    return frozenset(overload for family in FAMILIES for overload in family.arrived())


def default_decompositions() -> dict[OpOverload, Decomposition]:
    """Ours, then the rules made from schemas, then PyTorch's own: the first that has an overload wins.

    What they give lies in memory as what the operators give (`laid_out`). The same table at every call, until another package registers an operator that a family has an entry for.
    """
    return _with(arrived())
