"""Which concrete calls can evidence for one operator overload be gathered with?

    recording of PyTorch's own samples -> binding -> calls of related overloads -> synthesis from the schema

Every call was run in eager, in a forked worker, before it is given out. ``python -m bringup_coverage.calls`` prints
what share of aten has calls.
"""

from __future__ import annotations

from bringup_coverage.calls.index import recipes, why_none
from bringup_coverage.calls.recipe import Recipe

__all__ = ["Recipe", "recipes", "why_none"]
