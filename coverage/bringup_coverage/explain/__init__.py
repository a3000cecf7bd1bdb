"""How a target runs one operator: the tree from the call down to the kernels, with evidence and a program to try it."""

from __future__ import annotations

from bringup_coverage.explain.answer import answer
from bringup_coverage.explain.question import Question
from bringup_coverage.explain.text import render

__all__ = ["Question", "answer", "render"]
