"""Times of single operators on a chip: a smooth roofline over tiles and waves, with fitted constants.

Units: FLOP, bytes, seconds. A cost is a function of a profile, the operator's sizes and a dict of constants; it knows no device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from bringup.device.profile import Profile

BYTES = {
    "bf16": 2.0,
    "fp16": 2.0,
    "fp32": 4.0,
    "fp8": 1.0,
    "nvfp4": 0.5625,
    "bf16_HiFi2": 2.0,
    "bfp8_LoFi": 1.0625,
    "bfp4_LoFi": 0.5625,
}
_TILES = ((256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64))
_SPLITS = (1, 2, 4, 8, 16)
_SHARPNESS = 3.0  # of the corner of the roofline: the p of a p-norm


@dataclass(frozen=True)
class Matmul:
    """C[m, n] = A[m, k] @ B[k, n]; `quantizes`: A comes in bf16 and is converted first."""

    m: int
    n: int
    k: int
    dtype: str
    quantizes: bool = False

    @property
    def flops(self) -> float:
        """Multiplications and additions."""
        return 2.0 * self.m * self.n * self.k

    def seconds(self, chip: Profile, c: Mapping[str, float]) -> float:
        """The best tile and split of k, in whole waves over the cores, against the bytes that move."""
        size = BYTES[self.dtype]
        moved = size * (self.m * self.k + self.k * self.n) + 2.0 * self.m * self.n
        if self.quantizes:
            moved += (2.0 + size) * self.m * self.k
        rate = c["compute"] * chip.peak_flops[self.dtype] / chip.cores
        bandwidth = c["bandwidth"] * chip.memory_bandwidth
        best = float("inf")
        for rows, columns in _TILES:
            blocks = ceil(self.m / rows) * ceil(self.n / columns)
            slowdown = (256 * 128 / (rows * columns)) ** c["tile_exponent"]
            for split in _SPLITS:
                if split * 64 > max(self.k, 64):
                    break
                waves = ceil(blocks * split / chip.cores)
                depth = self.k / split + c["depth"]
                compute = waves * slowdown * 2.0 * rows * columns * depth / rate
                partial = 0.0 if split == 1 else 8.0 * split * self.m * self.n
                best = min(best, smooth(compute, (moved + partial) / bandwidth))
        return c["launch"] + best


@dataclass(frozen=True)
class Attention:
    """Softmax(QK^T)V for `queries` new positions over `keys`; `products`: matrix products, 2 forward, 7 with the backward pass."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_dim: int
    causal: bool
    dtype: str
    products: int = 2

    @property
    def flops(self) -> float:
        """Of the matrix products; half of them where the mask is causal and the sequence is whole."""
        full = 2.0 * self.products * self.batch * self.heads * self.queries * self.keys * self.head_dim
        return full / 2 if self.causal and self.queries == self.keys else full

    def seconds(self, chip: Profile, c: Mapping[str, float]) -> float:
        """Longer sequences keep the engine busier: compute * s / (s + depth)."""
        per_head = BYTES[self.dtype] * self.batch * self.head_dim
        moved = per_head * (2 * self.heads * self.queries + 2 * self.kv_heads * self.keys) * self.products / 2
        rate = c["compute"] * chip.peak_flops[self.dtype] * self.keys / (self.keys + c["depth"])
        return c["launch"] + smooth(self.flops / rate, moved / (c["bandwidth"] * chip.memory_bandwidth))


@dataclass(frozen=True)
class Collective:
    """Among `devices`; `size` is the whole tensor in bytes; `lanes`: links that a device sends on at a time."""

    kind: str
    devices: int
    size: float
    lanes: int = 1

    @property
    def wire(self) -> float:
        """Bytes that each device sends."""
        return (2.0 if self.kind == "all_reduce" else 1.0) * self.size * (self.devices - 1) / self.devices

    def seconds(self, chip: Profile, c: Mapping[str, float]) -> float:
        """Alpha-beta: a launch, a step for each further device, and the bytes over the link.

        Two protocols, the quicker counts: one that starts at once at a fraction of the bandwidth, one that has to set up.
        """
        beta = self.wire / (c["bandwidth"] * chip.link_bandwidth * self.lanes)
        return c["launch"] + c["step"] * (self.devices - 1) + min(beta / c["low_latency_share"], c["setup"] + beta)


Work = Matmul | Attention | Collective


def smooth(*parts: float) -> float:
    """The p-norm: the longest part, rounded at the corner."""
    longest = max(parts)
    return longest * sum((p / longest) ** _SHARPNESS for p in parts) ** (1 / _SHARPNESS)
