"""Creation of tensors, and padding."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("creation")
