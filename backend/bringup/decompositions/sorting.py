"""Sorting, selection, searching and unique values."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("sorting")
