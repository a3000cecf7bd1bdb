"""When a backend's result counts as equal to eager's.

Shape and dtype must be eager's. Values must be within `TOLERANCES` of eager's, or no further from a float64 reference
than `FACTOR` times eager's own distance (and, for an exactly representable reference, one unit in the last place of the largest
element). NaN must be where eager has NaN; but where eager overflows and the reference does not, the reference counts in eager's place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""(rtol, atol) by dtype; torch.testing's defaults. Other dtypes must be equal."""

FACTOR = 3.0
"""How many times eager's own error against float64 a result's error may be."""

Reference = Callable[[], Any]


def leaves(value: Any) -> list[torch.Tensor]:
    """The tensors of a result, nested sequences and dicts flattened, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return []


def mismatch(actual: Any, expected: Any, reference: Reference | None = None) -> str | None:
    """Why `actual` does not count as equal to eager's `expected`, or None when it does.

    Args:
        actual: the backend's result, tensors possibly nested.
        expected: eager's result.
        reference: computes the same result in float64 or complex128; called only when the values differ by more than the tolerances.
    """
    ours, theirs = leaves(actual), leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} tensors where eager gives {len(theirs)}"
    exact: list[torch.Tensor] | None = None
    for index, (a, e) in enumerate(zip(ours, theirs, strict=True)):
        why = _metadata(a, e)
        if why is None and not _close(a, e):
            if exact is None and reference is not None:
                exact = _reference(reference, len(theirs))
            why = _further(a, e, exact[index] if exact else None)
        if why is not None:
            return f"result {index}: {why}"
    return None


def error_of(actual: Any, expected: Any) -> float | None:
    """The largest difference over the largest finite element of eager's result; None without floating point results."""
    worst: float | None = None
    for a, e in zip(map(_dense, leaves(actual)), map(_dense, leaves(expected)), strict=True):
        if not (e.is_floating_point() or e.is_complex()) or a.shape != e.shape or not e.numel() or e.is_meta:
            continue
        wide = torch.complex128 if e.is_complex() else torch.float64
        finite = torch.isfinite(a.to(wide)) & torch.isfinite(e.to(wide))
        if not bool(finite.any()):
            continue
        gap = float((a.to(wide) - e.to(wide)).abs()[finite].max())
        size = float(e.to(wide).abs()[finite].max())
        worst = max(worst or 0.0, gap / size if size else gap)
    return worst


def _metadata(a: torch.Tensor, e: torch.Tensor) -> str | None:
    if a.dtype != e.dtype:
        return f"dtype {a.dtype} where eager gives {e.dtype}"
    if a.shape != e.shape:
        return f"shape {tuple(a.shape)} where eager gives {tuple(e.shape)}"
    if a.is_meta != e.is_meta:
        return f"device {a.device} where eager gives {e.device}"
    if a.layout != e.layout:
        return f"layout {a.layout} where eager gives {e.layout}"
    return None


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype is torch.complex32:  # the host compares no complex halves
        tensor = tensor.to(torch.complex64)
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _close(a: torch.Tensor, e: torch.Tensor) -> bool:
    if a.is_meta and e.is_meta:  # there are no values
        return True
    dtype, a, e = a.dtype, _dense(a), _dense(e)
    if dtype not in TOLERANCES:
        eighth = dtype.is_floating_point and dtype.itemsize == 1  # the host compares no 8-bit floats
        return bool(torch.equal(a.float(), e.float())) if eighth else bool(torch.equal(a, e))
    rtol, atol = TOLERANCES[dtype]
    return bool(torch.allclose(a, e, rtol=rtol, atol=atol, equal_nan=True))


def _reference(reference: Reference, count: int) -> list[torch.Tensor] | None:
    try:
        exact = leaves(reference())
    except Exception:  # an operator without a float64 kernel has no reference; the tolerances alone decide
        return None
    return exact if len(exact) == count else None


def _further(a: torch.Tensor, e: torch.Tensor, exact: torch.Tensor | None) -> str | None:
    dtype, a, e = a.dtype, _dense(a), _dense(e)
    if dtype not in TOLERANCES:
        return f"{int((a != e).sum())} of {a.numel()} elements differ, first at {_first(a != e)}"
    wide = torch.complex128 if a.dtype.is_complex else torch.float64
    gap = (a.to(wide) - e.to(wide)).abs()
    worst = float(gap.nan_to_num(nan=float("inf")).max())
    found = f"off by {worst:.3g} from eager"
    if exact is None or exact.shape != a.shape:
        return found
    true = _dense(exact).to(wide)
    e = _where_eager_overflows(a, e, true)
    finite = torch.isfinite(true) & torch.isfinite(a.to(wide)) & torch.isfinite(e.to(wide))
    same = (a == e) | (torch.isnan(a) & torch.isnan(e))
    if not bool((finite | same).all()):
        return f"{found}, at other infinities or NaN than eager's"
    if not bool(finite.any()):
        return None
    ours = float((a.to(wide) - true).abs()[finite].max())
    theirs = float((e.to(wide) - true).abs()[finite].max())
    unit = torch.finfo(dtype).eps * float(true.abs()[finite].max())
    allowed = FACTOR * theirs + unit
    return None if ours <= allowed else f"{found}; {ours:.3g} from float64, eager {theirs:.3g}"


def _where_eager_overflows(a: torch.Tensor, e: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Eager's result; the reference's, in eager's dtype, where only eager is not finite."""
    true = true.to(e.dtype)
    return torch.where(torch.isfinite(a) & ~torch.isfinite(e) & torch.isfinite(true), true, e)


def _first(where: torch.Tensor) -> tuple[int, ...]:
    return tuple(where.nonzero()[0].tolist()) if where.any() else ()
