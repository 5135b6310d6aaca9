"""Pages of experiments: of what there is, whole, and where readers find them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidegate.experiments import experiments

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "experiments"
NAMES = sorted({page.stem for page in PAGES.glob("*.md")} - {"index", "log"})


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_whole_and_is_found(name: str) -> None:
    page = read(PAGES / f"{name}.md")
    assert page.replace(r"\*", "*").startswith(f"# {experiments()[name].title}\n")
    assert f"`tidegate reproduce {name}`" in page and "## Results" in page
    for svg in re.findall(r"\]\((\S+\.svg)\)", page):
        assert read(PAGES / svg).startswith("<svg")
    assert f"]({name}.md)" in read(PAGES / "index.md")
    assert f"- experiments/{name}.md\n" in read(ROOT / "mkdocs.yml")


def test_no_page_speaks_of_another_protocol() -> None:
    old = [name for name in NAMES if experiments()[name].protocol not in read(PAGES / f"{name}.md")]
    assert not old, f"changed since their pages were written: {old}"


def test_no_figure_is_left_over() -> None:
    pages = "".join(read(page) for page in PAGES.glob("*.md"))
    assert [svg.name for svg in PAGES.glob("*.svg") if f"]({svg.name})" not in pages] == []
