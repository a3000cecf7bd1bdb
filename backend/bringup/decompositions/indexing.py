"""Indexing, gathering, scattering and masks."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("indexing")
