"""A file that is replaced is there whole; faults/ holds what happens when that fails."""

from __future__ import annotations

import os
from pathlib import Path

from tidegate._core.whole_file import replace_file


def test_a_file_is_replaced_whole_and_nothing_lies_beside(tmp_path: Path) -> None:
    path = tmp_path / "state [1]*"
    for content in (b"one", b"", b"x" * 100_000):
        replace_file(path, content)
        assert path.read_bytes() == content
        assert os.listdir(path.parent) == [path.name]
