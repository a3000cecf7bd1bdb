"""Wall times of coverage scans as whole commands, cold and warm, beside what `import torch` alone takes.

    python benchmarks/scans.py                      # all of them, some 20 minutes on 2 cores
    python benchmarks/scans.py --only declared --only 'traced float32' --json

Each scan is a process of its own; cold means an empty cache folder. The machine should do nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

SCANS: dict[str, tuple[str, ...]] = {
    "declared": ("--evidence", "declared"),
    "traced float32": ("--evidence", "traced", "--dtypes", "float32", "--forward-only"),
    "traced everything": ("--evidence", "traced"),
    "run everything": ("--evidence", "run"),
}
"""By name, what each is asked for beyond the target."""


def seconds(command: Sequence[str], **environment: str) -> float:
    """Wall seconds of a command, whose standard output is not looked at.

    Raises:
        SystemExit: it failed.
    """
    begin = time.perf_counter()
    status = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=False)
    if status.returncode:
        sys.exit(f"{' '.join(command)} ended with exit status {status.returncode}")
    return time.perf_counter() - begin


def measured(name: str, jobs: int) -> dict[str, Any]:
    """A scan, cold and then again with what it kept; and what it found."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "report.json")
        scan = [sys.executable, "-m", "bringup", "coverage", "--target", "sim", "--jobs", str(jobs), *SCANS[name]]
        scan += ["--format", "json", "--output", str(output)]
        importing = min(seconds([sys.executable, "-c", "import torch"]) for _ in range(3))
        cold, warm = (seconds(scan, BRINGUP_CACHE_DIR=folder) for _ in range(2))
        report = json.loads(output.read_text(encoding="utf-8"))
    portable = [o for o in report["overloads"] if o["tier"] == "portable"]
    return {
        "scan": name,
        "cold": round(cold, 1),
        "again": round(warm, 1),
        "import torch": round(importing, 1),
        "portable": len(portable),
        "native or decomposed": sum(o["status"] != "none" for o in portable),
        "run": sum(o["evidence"]["level"] == "run" for o in portable),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=SCANS, help="repeat for several; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [measured(name, options.jobs) for name in options.only or SCANS]
    print(json.dumps(rows, indent=2) if options.json else tabulate(rows, headers="keys"))


if __name__ == "__main__":
    main()
