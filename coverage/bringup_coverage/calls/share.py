"""What share of aten has calls, by source, and which overloads have none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bringup_coverage.calls.resolve import NO_KERNEL
from bringup_coverage.calls.sources import Found

WORDS = frozenset(
    (
        *("sparse", "nested", "quantized", "mkldnn", "cudnn", "cuda", "vulkan", "mps", "xpu", "miopen", "metal", "hip"),
        *("fbgemm", "nnpack", "cslt", "triton", "cufft", "xla", "flash", "efficient", "jagged", "padded", "nnz"),
        *("coalesce", "coalesced", "csr", "csc", "bsr", "bsc", "coo", "smm", "hspmm", "sspaddmm", "spdiags", "spsolve"),
    )
)
"""Words in an operator's name that say that it is not for dense tensors of any device."""

BASES = frozenset(
    (
        *("indices", "_indices", "values", "_values", "col_indices", "row_indices", "crow_indices", "ccol_indices"),
        *("indices_copy", "_indices_copy", "values_copy", "_values_copy", "col_indices_copy", "row_indices_copy"),
        *("crow_indices_copy", "ccol_indices_copy", "_dimI", "_dimV", "_to_dense", "_wrapped_linear_prepack"),
        *("int_repr", "qscheme", "q_scale", "q_zero_point"),
        *("q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points"),
    )
)
"""Operators of sparse or quantized tensors whose names do not say so."""


def special(overload: str) -> bool:
    """Whether an overload is for a layout, a vendor or a quantized type."""
    base = overload.partition("::")[2].partition(".")[0]
    name = base.lower()
    return base in BASES or bool(set(name.split("_")) & WORDS) or "quant" in name or "mkldnn" in name


def share(found: dict[str, Found]) -> dict[str, Any]:
    """The figures as plain data."""
    ordinary = [f for n, f in found.items() if not special(n)]
    return {
        "overloads": len(found),
        "with_calls": sum(bool(f.calls) for f in found.values()),
        "ordinary": len(ordinary),
        "ordinary_with_calls": sum(bool(f.calls) for f in ordinary),
        "portable": sum(f.why != NO_KERNEL for f in ordinary),
        "sources": dict(sorted(Counter(f.calls[0][1] for f in found.values() if f.calls).items())),
        "missing": {f.overload: f.why for f in ordinary if not f.calls},
        "missing_special": {n: f.why for n, f in found.items() if not f.calls and special(n)},
    }


def text(figures: dict[str, Any]) -> str:
    """The figures for a person, one overload without calls a line."""
    lines = [f"{source:12} {count:5}" for source, count in figures["sources"].items()]
    for label, part, whole in (
        ("all of aten", "with_calls", "overloads"),
        ("ordinary", "ordinary_with_calls", "ordinary"),
        ("on the CPU", "ordinary_with_calls", "portable"),
    ):
        lines.append(f"{label:12} {figures[part]:5} of {figures[whole]} ({100 * figures[part] / figures[whole]:.1f} %)")
    lines += [f"none  {name}: {why}" for name, why in sorted(figures["missing"].items())]
    lines.append(f"and {len(figures['missing_special'])} for sparse, nested, quantized or vendor tensors")
    return "\n".join(lines)
