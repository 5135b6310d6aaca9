"""The page on architecture, the import contract and the tree agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d) \| `(\w+)` \| .+ \| (here|planned) \|$", re.MULTILINE)


def test_page_calls_here_what_is_here() -> None:
    package = ROOT / "src" / "tidegate"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {name for _, name, state in ROW.findall(PAGE) if state == "here"} == folders


def test_floors_of_the_page_are_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["tidegate"]
    )
    contract = {floor: set(re.findall(r"\w+", line)) for floor, line in enumerate(reversed(layers))}
    page: dict[int, set[str]] = {}
    for floor, name, _ in ROW.findall(PAGE):
        page.setdefault(int(floor), set()).add(name)
    assert page == contract
