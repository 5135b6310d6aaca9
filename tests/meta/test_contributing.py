"""The skeletons that newcomers are told to start from run as they stand."""

from __future__ import annotations

import doctest
import gzip
import re
from pathlib import Path
from types import ModuleType

import pytest

from tidegate.calculus import derive
from tidegate.cells.base import Cell
from tidegate.datasets.base import Dataset
from tidegate.tasks.base import Task

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = r"^## {title}\n.*?^```python\n(.*?)^```"


def skeleton(title: str, folder: Path = Path()) -> ModuleType:
    """The code block under a heading, run as a module of ``folder``, its own example included."""
    found = re.search(SECTION.format(title=title), PAGE, re.MULTILINE | re.DOTALL)
    assert found
    module = ModuleType("skeleton")
    module.__file__ = str(folder / "skeleton.py")
    exec(compile(found[1], title, "exec", dont_inherit=True), vars(module))
    examples = doctest.testmod(module)
    assert examples.attempted and not examples.failed
    return module


def test_the_cell_has_derivatives() -> None:
    cell = skeleton("A cell").OpenLSTM()
    assert isinstance(cell, Cell)
    assert derive(cell)


def test_the_task_is_solved_by_its_oracle_and_can_be_cut() -> None:
    task = skeleton("A task").Majority()
    assert isinstance(task, Task)
    whole, _ = task.block(task.start(seed=1), 100)
    head, state = task.block(task.start(seed=1), 37)
    tail, _ = task.block(state, 63)
    assert task.score(task.oracle(whole.symbols), whole) == 1.0
    assert whole.targets.tolist() == head.targets.tolist() + tail.targets.tolist()


def test_the_data_set_reads_the_file_beside_it(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "gauge.csv.gz", "wt", encoding="utf-8") as file:
        file.write("time,level\n2020-01-01 00:00:00,412\n2020-01-01 01:00:00,408\n")
    data = skeleton("A data set", tmp_path).Gauge()
    assert isinstance(data, Dataset)
    assert [row.values.tolist() for row in data.rows()] == [[412.0], [408.0]]


def test_a_missing_section_is_noticed() -> None:
    with pytest.raises(AssertionError):
        skeleton("A zeppelin")
