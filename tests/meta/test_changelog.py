"""The changelog and the package name the same version."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import tidegate

ROOT = Path(__file__).parents[2]


def test_newest_entry_is_the_version_of_the_package() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert versions[0] == tidegate.__version__


def test_installed_version_is_the_version_of_the_source() -> None:
    assert version("tidegate") == tidegate.__version__
