"""Reductions: sums, means, variances, norms, extrema."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("reductions")
