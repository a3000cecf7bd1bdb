"""Complex arithmetic and the parts of complex numbers."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("complex_numbers")
