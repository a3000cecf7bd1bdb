"""Build the wheel, install it in a clean environment, and compile a model from outside the checkout.

python tests/check_wheel.py --torch 2.13.0
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
x = torch.randn(3, 8)
torch.testing.assert_close(torch.compile(model, backend="bringup", options={"fallback": "error"})(x), model(x))
import bringup, bringup_codegen, bringup_coverage
assert bringup.report().fallbacks == []
assert "site-packages" in bringup.__file__, bringup.__file__
print("compiled from", bringup.__file__.split("site-packages")[1])
"""


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="2.13.0", help="the torch release to install beside the wheel")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT)], check=True)
        (wheel,) = Path(folder).glob("bringup-*.whl")
        venv.create(Path(folder) / "clean", with_pip=True)
        python = str(Path(folder) / "clean" / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"torch=={arguments.torch}"], check=True)
        subprocess.run([*install, f"{wheel}"], check=True)
        subprocess.run([python, "-c", PROGRAM], check=True, cwd=folder)
        for command in (["kernels", "--json"], ["diff", "2.0", "2.15", "--format", "json"]):
            subprocess.run(
                [str(Path(python).parent / "bringup"), *command], check=True, cwd=folder, stdout=subprocess.DEVNULL
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
