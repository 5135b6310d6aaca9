"""No file of the package names a place on somebody's machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tidegate"
PLACE = re.compile(r"(?<![\w.:/])(/(home|root|Users|work|opt|mnt)/|[A-Z]:\\\\?Users)")


def named_places(text: str) -> list[str]:
    return [line for line in text.splitlines() if PLACE.search(line)]


@pytest.mark.parametrize("line", ['open("/home/me/a.csv")', "see /work/x", r"C:\Users\me"])
def test_a_place_is_seen(line: str) -> None:
    assert named_places(line) == [line]


@pytest.mark.parametrize("line", ["a / work / b", "https://example.org/home/x", "src/work/x"])
def test_what_is_no_place_is_left_alone(line: str) -> None:
    assert named_places(line) == []


def test_no_source_names_a_place() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert len(texts) > 5
    assert {path: found for path, text in texts.items() if (found := named_places(text))} == {}
