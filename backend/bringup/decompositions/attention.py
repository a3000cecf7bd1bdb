"""Scaled dot-product attention and its gradients."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("attention")
