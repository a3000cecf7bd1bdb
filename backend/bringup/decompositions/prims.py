"""PyTorch's prims, which its reference decompositions end in, onto the required kernels."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("prims")
