"""What costs time or may be missing is imported only by those who need it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"llvmlite", "numba", "numpy", "pyarrow", "safetensors", "torch"}


def imported_by(program: str) -> set[str]:
    """The top-level packages that a fresh interpreter holds after running ``program``."""
    report = "\nimport sys; print('\\n' + ' '.join({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program + report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_the_probe_sees_a_heavy_import() -> None:
    assert "pyarrow" in imported_by("import pyarrow")


def test_import_tidegate_imports_nothing_heavy() -> None:
    assert not imported_by("import tidegate") & HEAVY


def test_listing_the_names_imports_nothing_heavy() -> None:
    assert not imported_by("import tidegate; dir(tidegate); tidegate.__version__") & HEAVY


def test_help_imports_nothing_heavy() -> None:
    program = """
import sys
from tidegate.cli import main
sys.argv = ["tidegate", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    assert not imported_by(program) & HEAVY
