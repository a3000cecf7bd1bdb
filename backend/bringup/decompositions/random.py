"""Random numbers, on eager's own stream where the host kernel allows it."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("random")
