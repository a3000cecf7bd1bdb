"""FX graph to program, by the target's table. Every instruction keeps its FX node's name and the user's source line."""

from bringup.lower.diagnostics import source_line
from bringup.lower.graph import lower

__all__ = ["lower", "source_line"]
