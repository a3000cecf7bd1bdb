"""Recurrent cells and layers."""

from __future__ import annotations

from bringup.decompositions.registry import Decompositions

TABLE = Decompositions("rnn")
