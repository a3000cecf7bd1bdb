"""Normalisations and their gradients."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("norms")
