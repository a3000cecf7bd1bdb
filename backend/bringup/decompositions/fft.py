"""Fourier transforms."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("fft")
