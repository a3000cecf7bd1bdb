"""Convolutions and their gradients, unfold and fold."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("convolution")
