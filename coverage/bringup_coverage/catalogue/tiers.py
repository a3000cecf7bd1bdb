"""Tiers: what sort of operator an overload is, so that no total mixes what a backend must run with what it never will.

The rows are asked in order and the first that holds decides. They look at the schema, the tags and the dispatch keys; a name
decides only where PyTorch itself marks a family by its name (``_foreach_``, ``_test_``, vendors' libraries).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules ask about: name parts, types of arguments and results, tags, dispatch keys."""

    namespace: str
    packet: str
    types: tuple[str, ...]
    returns: tuple[str, ...]
    tags: frozenset[str]
    keys: frozenset[str]
    writes: bool

    def only(self, *keys: str) -> bool:
        """Whether every host's device that has a kernel is one of `keys`, and there is one."""
        devices = self.keys - _NO_HOST_KERNEL
        return bool(devices) and devices <= set(keys)

    def named(self, pattern: str) -> bool:
        """Whether the packet's name has the pattern in it."""
        return re.search(pattern, self.packet) is not None


SPACES = {
    "prims": "prims",
    "quantized": "quantized",
    "_quantized": "quantized",
    "quantization": "quantized",
    "mkldnn": "vendor",
    "onednn": "vendor",
    "mkl": "vendor",
    "mkldnn_prepacked": "vendor",
    "c10d": "collective",
    "_c10d_functional": "collective",
    "_c10d_functional_autograd": "collective",
    "symm_mem": "collective",
    "_dtensor": "collective",
    "sparse": "sparse",
}
"""Namespaces other than aten whose operators are all of one sort; the rest are PyTorch's own machinery."""

_VENDORS = r"cudnn|nnpack|miopen|mkldnn|mps_|^_?mps|xnnpack|vulkan|cutlass|cusparselt|_cslt|triton|cuda|_fft_.*hip|fbgemm|hipdnn|^_amp_"
_SPARSE = ("SparseCPU", "SparseCsrCPU", "SparseCUDA", "SparseCsrCUDA", "SparseMeta")
_NO_HOST_KERNEL = {"Meta", "Autograd", "BackendSelect", "ZeroTensor", "CUDA", "MPS"}
"""Keys that give an operator no kernel on the host; which of them are registered depends on the build, the tier does not."""
_NESTED = ("NestedTensorCPU", "NestedTensorCUDA", "CompositeImplicitAutogradNestedTensor")

_QUANTIZED = r"quantized|^q_|^int_repr|dequantize|fbgemm|int4pack|int8pack|_dyn_quant|^quantize_per|^_make_per|^_empty_(per|affine)|^choose_qparams|_saturate_weight"
_COMPRESSED = r"^(crow|ccol|col|row)_indices|^_?(indices|values)(_copy)?$|_nnz|^_?dim[IV]$|^_?to_dense|^sspaddmm|^hspmm|_coalesce|^dense_dim"
_MACHINERY = r"^_functional_(assert|sym)_?|^_make_dep_token|^_fw_primal|^_make_dual|^_(add|remove)_batch_dim|^set_?$|^_?resize_output|^from_file"
"""Effect tokens and the checks threaded with them, dual and batched tensors of function transforms, a tensor's storage exchanged, files:
what the framework does with tensors on the host, whatever the device."""
_ELSEWHERE = r"^_philox_|^_pin_memory|_overrideable"
"""Registered for any device, implemented for none that computes on the host."""
_READS = r"^_?(item|equal|allclose|is_nonzero|local_scalar_dense)$"


def _asks_only(facts: Facts) -> bool:
    """Whether an operator only tells something of its arguments that needs none of their data."""
    returns_tensor = any("Tensor" in t for t in facts.returns)
    if facts.writes or returns_tensor or facts.named(_READS) or "data_dependent_output" in facts.tags:
        return False
    return not facts.named(r"assert|backward|print|record")


RULES: tuple[tuple[str, Callable[[Facts], bool]], ...] = (
    ("testing", lambda f: f.packet.startswith(("_test_", "_foobar"))),
    ("internal", lambda f: f.named(_MACHINERY)),
    ("device", lambda f: f.named(_ELSEWHERE)),
    ("foreach", lambda f: f.packet.startswith(("_foreach_", "_fused_ada", "_fused_sgd", "_amp_foreach"))),
    ("quantized", lambda f: f.only("QuantizedCPU", "QuantizedCUDA") or f.named(_QUANTIZED)),
    ("nested", lambda f: f.only(*_NESTED) or f.named(r"nested|jagged")),
    (
        "sparse",
        lambda f: f.only(*_SPARSE) or f.named(rf"sparse|spdiags|_coo_|_csr|_csc|_bsr|_bsc|coalesce|{_COMPRESSED}"),
    ),
    ("vendor", lambda f: f.only("MkldnnCPU") or f.named(_VENDORS)),
    ("query", _asks_only),
    ("data-dependent", lambda f: bool(f.tags & {"dynamic_output_shape", "data_dependent_output"})),
    ("random", lambda f: "nondeterministic_seeded" in f.tags or any("Generator" in t for t in f.types)),
    ("device", lambda f: not f.keys - _NO_HOST_KERNEL),
)
"""Tier by the first rule that holds; what no rule claims is portable: dense tensors on any device."""


def tier_of(facts: Facts) -> str:
    """The tier of an overload."""
    if facts.namespace != "aten":
        return SPACES.get(facts.namespace, "internal")
    return next((tier for tier, holds in RULES if holds(facts)), "portable")
