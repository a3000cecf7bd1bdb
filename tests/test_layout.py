"""The house: three roots, arrows one way, private PyTorch APIs in one module, a command line that starts at once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOTS = {"backend": "bringup", "codegen": "bringup_codegen", "coverage": "bringup_coverage"}
SOURCES = [p for folder, package in ROOTS.items() for p in sorted((ROOT / folder / package).rglob("*.py"))]
PRIVATE = re.compile(
    r"torch\._(C|dynamo|functorch|subclasses|decomp|inductor|prims|refs|ops|export|guards|higher_order_ops)\b"
)
LONG_WITH_A_REASON: set[str] = set()


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def packages(path: Path) -> set[str]:
    """First parts of the modules that a file imports."""
    return {name.split(".")[0] for name in imported(path)}


def test_no_source_root_is_a_package() -> None:
    """A root `coverage/__init__.py` would shadow coverage.py."""
    assert not [r for r in ROOTS if (ROOT / r / "__init__.py").exists()]


def test_arrows_go_one_way() -> None:
    """bringup and bringup_codegen import nothing of each other, and nothing stands on bringup_coverage."""
    forbidden = {"bringup": {"bringup_codegen", "bringup_coverage"}, "bringup_codegen": {"bringup", "bringup_coverage"}}
    for path in SOURCES:
        package = path.relative_to(ROOT).parts[1]
        assert not packages(path) & forbidden.get(package, set()), path


def test_lower_layers_import_no_higher_ones() -> None:
    """Target and decompositions know nothing of graphs and programs; the program knows nothing of the compiler."""
    layers = {
        "target": ("bringup.ir", "bringup.lower", "bringup.compiler", "bringup.passes", "bringup.engine"),
        "decompositions": ("bringup.ir", "bringup.lower", "bringup.compiler", "bringup.target", "bringup.passes"),
        "passes": ("bringup.ir", "bringup.lower", "bringup.compiler", "bringup.target"),
        "engine": ("bringup.lower", "bringup.compiler", "bringup.passes"),
        "device": ("bringup.lower", "bringup.compiler", "bringup.passes"),
    }
    for folder, above in layers.items():
        for path in (ROOT / "backend" / "bringup" / folder).rglob("*.py"):
            wrong = [name for name in imported(path) if name.startswith(above)]
            assert not wrong, f"{path.name} imports {wrong}"


def test_private_torch_apis_live_in_one_module() -> None:
    """Everything private goes through torch_internals; what never imports torch may speak of its files."""
    for path in SOURCES:
        if path.parent.name == "torch_internals" or "bringup_codegen" in path.parts:
            continue
        code = "\n".join(line.split("#")[0] for line in path.read_text(encoding="utf-8").splitlines())
        assert not PRIVATE.search(code), f"{path}: {PRIVATE.search(code)}"


def test_code_generation_never_imports_torch() -> None:
    """Neither by a statement nor by name."""
    for path in (p for p in SOURCES if "bringup_codegen" in p.parts):
        assert "torch" not in packages(path), path
        assert "import_module" not in path.read_text(encoding="utf-8"), path


def test_no_drawer_for_everything() -> None:
    """A helper lives with what it helps."""
    assert not [p for p in SOURCES if p.stem in ("utils", "common", "helpers", "misc")]


def test_files_are_short() -> None:
    """No file over 500 lines."""
    long = {p.name for p in SOURCES if len(p.read_text(encoding="utf-8").splitlines()) > 500}
    assert long <= LONG_WITH_A_REASON


@pytest.mark.parametrize("code", ["import bringup", "import bringup.cli", "import bringup_codegen"])
def test_importing_does_not_import_torch(code: str) -> None:
    """Start-up counts."""
    check = f"{code}\nimport sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_help_does_not_import_torch() -> None:
    """`bringup --help` answers without torch."""
    code = (
        "import sys\nfrom bringup.cli import main\nsys.argv = ['bringup', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nsys.exit('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "kernels" in result.stdout


def test_pytorch_tables_are_left_alone() -> None:
    """Building the target changes nothing in PyTorch's own decomposition table."""
    code = (
        "from torch._decomp import decomposition_table as t\nbefore = dict(t)\n"
        "from bringup import find_target\nfind_target('sim').table\nassert dict(t) == before"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
