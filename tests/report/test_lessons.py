"""Lessons show what their code really gives, and code that fails stops the build."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("mkdocs", reason="needs the extra docs")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lessons() -> ModuleType:
    spec = spec_from_file_location("lessons", ROOT / "docs" / "hooks" / "lessons.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_output_follows_its_code_and_values_know_what_ran_before(lessons: ModuleType) -> None:
    page = "```python\nx = 2\nprint(x + 1)\n```\nIt is {{ x / 3:.2f }}, and {{ x }}.\n"
    made = lessons.carried_out(page, "page")
    assert "```text\n3\n```" in made
    assert "It is 0.67, and 2." in made


def test_a_picture_is_in_the_page_with_words_for_it(lessons: ModuleType) -> None:
    code = "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots()\n"
    made = lessons.carried_out(f'```python figure "It rises"\n{code}```\n', "page")
    assert 'aria-label="It rises"><svg fill="currentColor"' in made
    assert "    figure = Figure()" in made and "#000000" not in made
    assert made == lessons.carried_out(f'```python figure "It rises"\n{code}```\n', "page")


@pytest.mark.parametrize("wrong", ["```python\n1 / 0\n```\n", "{{ 1 / 0 }}\n"])
def test_what_fails_stops_the_build(lessons: ModuleType, wrong: str) -> None:
    with pytest.raises(Exception, match="page: .*ZeroDivisionError"):
        lessons.carried_out(wrong, "page")


def test_every_lesson_is_reached_from_the_list(lessons: ModuleType) -> None:
    folder = ROOT / "docs" / "lessons"
    listed = (folder / "index.md").read_text(encoding="utf-8")
    names = {path.name for path in folder.glob("*.md")} - {"index.md"}
    assert len(names) == 9
    assert all(f"]({name})" in listed for name in names)
