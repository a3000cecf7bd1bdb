"""A call's arguments as Python source: tensors at random in the range of the recorded ones, or value by value."""

from __future__ import annotations

from typing import Any

import torch


def source(value: Any, *, exact: bool) -> str:
    """An expression that makes `value`, given ``torch``, and ``inf`` and ``nan``.

    Args:
        value: a tensor, a list, or anything plain that a recipe holds.
        exact: write every element of a tensor down; else draw them, from where the recorded ones lie.
    """
    if isinstance(value, torch.Tensor):
        return _tensor(value.detach().resolve_conj().resolve_neg(), exact)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(source(v, exact=exact) for v in value)}]"
    if isinstance(value, torch.Generator):
        return f"torch.Generator().manual_seed({value.initial_seed()})"
    if isinstance(value, torch.UntypedStorage):
        return f"torch.UntypedStorage({value.nbytes()})"
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    return repr(value)  # numbers, text, None, and dtypes, layouts and memory formats, which print as torch spells them


def _tensor(tensor: torch.Tensor, exact: bool) -> str:
    shape = list(tensor.shape)
    if not tensor.numel():
        return f"torch.empty({shape}, dtype={tensor.dtype})"
    if tensor.is_contiguous():
        return _dense(tensor, exact)
    reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, tensor.stride(), strict=True))
    flat = tensor.as_strided((reach,), (1,), tensor.storage_offset())
    return f"{_dense(flat, exact)}.as_strided({shape}, {list(tensor.stride())})"


def _dense(tensor: torch.Tensor, exact: bool) -> str:
    shape, dtype = list(tensor.shape), tensor.dtype
    first = tensor.reshape(-1)[0].item()
    if tensor.numel() > 1 and bool((tensor == tensor.reshape(-1)[0]).all()):
        return f"torch.full({shape}, {first!r}, dtype={dtype})"
    if exact or (tensor.dim() == 0 and not dtype.is_floating_point):
        return f"torch.tensor({tensor.tolist()!r}, dtype={dtype})"
    if dtype is torch.bool:
        return f"torch.rand({shape}) > 0.5"
    if dtype.is_complex:
        return f"torch.randn({shape}, dtype={dtype})"
    if not dtype.is_floating_point:
        numbers = tensor.long()
        return f"torch.randint({int(numbers.min())}, {int(numbers.max()) + 1}, {shape}, dtype={dtype})"
    numbers = tensor.double().nan_to_num(0.0, 1.0, -1.0)
    low, high = float(numbers.min()), float(numbers.max())
    drawn = f"torch.rand({shape}, dtype={dtype})"
    if low >= 0 and 0.5 < high <= 1:
        return drawn
    return f"torch.empty({shape}, dtype={dtype}).uniform_({low:.3g}, {max(high, low + 0.01):.3g})"
