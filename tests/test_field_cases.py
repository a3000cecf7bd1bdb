"""Small programs after public bug reports against systems like this one, where the folder beside the checkout has them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

CASES = Path(__file__).parent.parent.parent / "shared" / "field_cases"
FAIL_IN_DYNAMO = {"case_068", "case_084"}  # wrong under the backend "eager" too: no backend can reach the fault


@pytest.mark.skipif(not CASES.exists(), reason="the field cases are not part of the repository")
def test_every_field_case_that_a_backend_can_reach_passes(tmp_path: Path) -> None:
    """Including 012 and 117, which fail under aot_eager; on older releases more cases fail there, which are let pass."""
    bad = failing("bringup", tmp_path)
    if set(bad) <= FAIL_IN_DYNAMO:
        return
    assert torch.__version__ < "2.13", bad
    assert set(bad) <= FAIL_IN_DYNAMO | set(failing("aot_eager", tmp_path)), bad


def failing(backend: str, folder: Path) -> dict[str, str]:
    """The cases that fail on a backend, and why."""
    out = folder / f"{backend}.json"
    command = [sys.executable, str(CASES / "run_cases.py"), backend, "--fork", "--jobs", "2", "--json", str(out)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert out.exists(), done.stderr
    rows = json.loads(out.read_text())
    assert len(rows) >= 60
    return {r["id"]: r["why"] for r in rows if r["status"] not in ("PASS", "ACCEPT")}
