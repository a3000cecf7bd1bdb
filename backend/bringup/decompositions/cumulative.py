"""Scans: cumulative sums, products and extrema."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("cumulative")
