"""Linear algebra: factorisations, solvers and products."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("linalg")
