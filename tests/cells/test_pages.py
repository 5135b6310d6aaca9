"""The page of a cell is made from the cell: equations, retention, use, source, example."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tidegate import cells
from tidegate.calculus import latex

pytest.importorskip("mkdocs", reason="needs the extra docs")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = spec_from_file_location("cell_pages", ROOT / "docs" / "hooks" / "cells.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", cells.names())
def test_every_cell_has_all_of_its_page(pages: ModuleType, name: str) -> None:
    page, cell = pages.page(name), cells.named(name)
    for heading in ("Equations", "Retention", "When", "Source", "Example"):
        assert f"\n## {heading}\n" in page
    assert "Use it" in page and ":class:" not in page
    assert page.count("<math") == latex(cell).count("&=") >= len({*cell.memory, *cell.hidden})
    assert f'Recurrent("{name}"' in page and "```text\n" in page
    assert f"[`{name}`]({name}.md)" in pages.index()


def test_equations_are_those_of_the_step(pages: ModuleType) -> None:
    drawn = pages.equations(cells.named("lstm1997"))
    assert drawn.count("<math") == 5
    for word in ("tanh", "&#x003C3;", "<mi>W</mi>", "<mi>U</mi>"):
        assert word in drawn


def test_retention_is_computed(pages: ModuleType) -> None:
    assert "| c | 0.5 | 1 |" in pages.retention(cells.named("lstm"))
    assert "| c1 | 1 | for ever |" in pages.retention(cells.named("block1997"))
    assert "nothing is kept" in pages.retention(cells.named("rnn"))


def test_what_can_learn_online_is_said(pages: ModuleType) -> None:
    found = {name: pages.online(cells.named(name)) for name in cells.names()}
    assert found["lstm"] == "yes" and found["elstm"] == "exact"
    assert found["mgu"] == found["gru2014"] == found["layer_norm_lstm"] == "no"
