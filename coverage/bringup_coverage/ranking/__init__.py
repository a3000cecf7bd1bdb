"""Which kernels to write next: what each missing one would unlock, and a small set that unlocks given models.

    a report of a scan, usages -> needs -> rows, and the smallest set found -> text

Sets of names only; nothing here but `check` needs torch.
"""

from __future__ import annotations

from bringup_coverage.ranking.needs import Need, Needs
from bringup_coverage.ranking.rank import Ranking, rank

__all__ = ["Need", "Needs", "Ranking", "rank"]
