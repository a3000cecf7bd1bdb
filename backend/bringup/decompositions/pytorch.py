"""Which entries of PyTorch's own decomposition table a target starts from, and which it must not use."""

from __future__ import annotations

from bringup.decompositions.registry import Decomposition
from bringup.torch_internals import OpOverload, overload_name, pytorch_decompositions

HARMFUL: dict[str, str] = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": "returns attention weights where the backward reads logsumexp",
    "aten::rrelu_with_noise": "mutates its input",
}


def usable_entries() -> dict[OpOverload, Decomposition]:
    """PyTorch's table without the entries that are wrong."""
    return {op: fn for op, fn in pytorch_decompositions().items() if overload_name(op) not in HARMFUL}
