"""What a snapshot says of one overload, and of one release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bringup_codegen.snapshots.schema import Schema


@dataclass(frozen=True)
class Operator:
    """One overload of a release.

    Attributes:
        name: without the namespace, as in `add.Tensor`.
        schema: as PyTorch writes it, without the namespace.
        tags: those that somebody wrote; not `pt2_compliant_tag`, `inplace`, `out`, `generated`, which the build derives.
        keys: dispatch keys that `native_functions.yaml` names a kernel for.
        composite: "implicit" (decomposes above autograd), "explicit", "explicit_nonfunctional" or "".
        structured: "" or "yes" or the out= overload that has the kernel.
        variants: "function", "method".
        autogen: variants that the entry asks the build for.
        generated: the overload whose entry asked for this one; "" for one that is written out.
        derivative: whether `derivatives.yaml` has a formula (a release that ships that file).
        decomposition: the Python function in the table `torch._decomp.decomposition_table`.
        pre_autograd: the one in the table of decompositions that run above autograd.
        meta: the one that is the meta kernel.
        core_decomposition: whether `core_aten_decompositions()` uses it.
    """

    name: str
    schema: str
    tags: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    composite: str = ""
    structured: str = ""
    variants: tuple[str, ...] = ("function",)
    autogen: tuple[str, ...] = ()
    generated: str = ""
    derivative: bool = False
    decomposition: str = ""
    pre_autograd: str = ""
    meta: str = ""
    core_decomposition: bool = False

    @property
    def kind(self) -> str:
        """functional, inplace, out or mutable."""
        return Schema.parse(self.schema).kind


@dataclass(frozen=True)
class Snapshot:
    """The operators of one release.

    Attributes:
        torch: version.
        git: hash of the commit that it was built from.
        wheel: file name of the wheel, or "installed".
        sources: SHA-256 of each file that was read.
        operators: those of the YAML and those that the build generates from it, by name.
        runtime: schemas of `aten` operators that only a running PyTorch shows, by name; empty where none was asked.
        runtime_torch: version of that PyTorch.
    """

    torch: str
    git: str
    wheel: str
    sources: Mapping[str, str]
    operators: Mapping[str, Operator] = field(repr=False)
    runtime: Mapping[str, str] = field(default_factory=dict, repr=False)
    runtime_torch: str = ""
