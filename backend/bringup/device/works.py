"""Which work a measured row describes, and its value for a time."""

from __future__ import annotations

from bringup.device.costs import Attention, Collective, Matmul, Work
from bringup.device.measurements import Measurement

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
_QUANTIZED = "gemm_quantized(incl. activation quantisation)"


class Unmodelled(Exception):
    """A row that no cost model covers; the text says why."""


def work_of(row: Measurement) -> Work:
    """The work of a row.

    Raises:
        Unmodelled: its workload has no model, or its shapes lack a size.
    """
    s = row.sizes
    try:
        if row.workload in ("gemm", _QUANTIZED):
            return Matmul(int(s["M"]), int(s["N"]), int(s["K"]), row.dtype, row.workload == _QUANTIZED)
        if row.workload.startswith("attention_"):
            return _attention(row, s)
        if row.workload in _COLLECTIVES:
            if row.n_devices < 2:
                raise Unmodelled(f"{row.workload} on one device moves nothing")
            return Collective(row.workload, row.n_devices, float(s["bytes"]), 2 if s.get("topology") == "ring" else 1)
    except (KeyError, ValueError) as error:
        raise Unmodelled(f"shapes {row.shapes!r}: {error} is missing or no number") from error
    raise Unmodelled(f"no cost model for workload {row.workload!r}")


def _attention(row: Measurement, s: dict[str, str]) -> Attention:
    decode = row.workload == "attention_decode"
    keys = int(s["kv_len"] if decode else s["seq"])
    heads = int(s["heads"])
    causal = row.workload == "attention_prefill(causal)" or s.get("causal") == "1"
    return Attention(
        batch=int(s["batch"]),
        heads=heads,
        kv_heads=int(s.get("kv_heads", heads)),
        queries=1 if decode else keys,
        keys=keys,
        head_dim=int(s["head_dim"]),
        causal=causal,
        dtype=row.dtype,
        products=7 if row.workload == "attention_fwd_bwd" else 2,
    )


def class_of(row: Measurement) -> str:
    """The operator class whose constants a row is fitted with."""
    if row.workload in _COLLECTIVES:
        return "collective"
    return {_QUANTIZED: "gemm_quantized", "attention_prefill(causal)": "attention_prefill"}.get(
        row.workload, row.workload
    )


def value_of(row: Measurement, work: Work, seconds: float) -> float:
    """A time in the row's own metric and unit.

    Raises:
        Unmodelled: the metric does not follow from the time.
    """
    if row.metric == "latency" and row.unit in _SECONDS:
        return seconds / _SECONDS[row.unit]
    if row.unit == "TFLOP/s" and not isinstance(work, Collective):
        return work.flops / seconds / 1e12
    if row.metric == "bus_bandwidth" and row.unit == "GB/s" and isinstance(work, Collective):
        return work.wire / seconds / 1e9
    raise Unmodelled(f"no rule for metric {row.metric!r} in {row.unit!r}")
