"""How long snapshots take to load and to compare, and how large they are in the wheel.

python benchmarks/snapshots.py
"""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path
from statistics import median

from bringup_codegen.snapshots import load, releases
from bringup_codegen.snapshots.store import FOLDERS

ROUNDS = 9


def milliseconds(function: object) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return 1e3 * median(times)


def main() -> None:
    """Print the figures."""
    newest = releases()[-1]
    folder = next(f for f in FOLDERS if f.is_dir())
    files = sorted(folder.glob("*.txt"))
    print(f"load {newest}: {milliseconds(lambda: load(newest)):.1f} ms")
    print(f"load {newest} and read every stanza: {milliseconds(lambda: dict(load(newest).operators)):.1f} ms")
    for command in (["diff", "2.12.1", "2.15.0"], ["diff", releases()[0], newest], ["blame", "aten::qr"]):
        whole = [str(Path(sys.executable).parent / "bringup"), *command]
        taken = milliseconds(lambda whole=whole: subprocess.run(whole, check=True, stdout=subprocess.DEVNULL))
        print(f"bringup {' '.join(command)}, whole process: {taken:.0f} ms")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    largest = max(f.stat().st_size for f in files)
    print(
        f"{len(files)} releases: largest {largest / 1e6:.2f} MB, together {len(packed.getvalue()) / 1e6:.2f} MB compressed"
    )
    print("torch was imported" if "torch" in sys.modules else "torch was not imported")


if __name__ == "__main__":
    main()
