"""The words of the summary: never kinder than the figures."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.cli._summary import show, verdict
from tidegate.cli._summary_words import counts


def summary(ours: float, persistence: float, scored: int = 1_000, **more: Any) -> dict[str, Any]:
    mae = {"tidegate": ours, "persistence": persistence} | more.pop("mae", {})
    skill = {name: 1 - ours / x if x else None for name, x in mae.items() if name != "tidegate"}
    about = {"target": "load", "source": "a.csv", "ended": "end of stream", "warmup": 0}
    about |= {"model": "network", "key": None, "coverage": {}, "ahead": []}
    figures = {"steps": scored, "scored": scored, "mae": mae, "skill": skill, "flags": {}}
    return about | figures | {"skipped": {"count": 0, "first": []}} | more


@pytest.mark.parametrize(
    ("ours", "persistence", "week_ago", "words"),
    [
        (50, 100, 80, "Better than every simple forecast: 37.5 % less error than week ago."),
        (50, 100, 200, "Better than every simple forecast: 50.0 % less error than persistence."),
        (90, 100, 80, "Better than persistence, but worse than week ago."),
        (80, 100, 80.1, "Better than persistence, but no better than week ago."),
        (100, 100, 80, "No better than persistence, and worse than week ago."),
        (120, 100, 80, "Worse than persistence, and worse than week ago."),
        (99.5, 100, 200, "No better than persistence."),
        (100, 100, 200, "No better than persistence."),
        (100.5, 100, 200, "No better than persistence."),
        (120, 100, 200, "Worse than persistence."),
        (120, 100, 110, "Worse than persistence."),
        (0, 0, 0, "Nothing can be better than persistence here: it made no error."),
        (5, 100, 0, "Nothing can be better than week ago here: it made no error."),
    ],
)
def test_verdict(ours: float, persistence: float, week_ago: float, words: str) -> None:
    assert verdict(summary(ours, persistence, mae={"week ago": week_ago})) == words


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"scored": 99}, "Too few rows are scored to tell which forecast is better: 99."),
        ({"scored": 0, "steps": 0}, "No row came"),
        ({"scored": 0, "steps": 200, "warmup": 200}, "the warm-up of 200 rows was not over"),
        ({"scored": 0, "steps": 201, "warmup": 200}, "no row had both a value and a forecast"),
    ],
)
def test_verdict_without_enough_rows(figures: dict[str, Any], words: str) -> None:
    assert words in verdict(summary(1, 100) | figures)


def test_counts() -> None:
    figures = summary(1, 2) | {"flags": {"warmup": 9, "missing": 1_234, "clipped": 1, "gap": 2}}
    said = counts(figures | {"skipped": {"count": 1_000, "first": []}})
    assert said == (
        "1,000 rows predicted: 1,234 with a missing value, 1 too far off to learn from in full, "
        "2 after a gap in time. 1,000 rows skipped, as they could not be read."
    )


def test_the_first_rows_that_were_skipped_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    first = [f"a.csv, row {n}: expected 3 cells, got 2. Correct the row, or ..." for n in range(9)]
    show(summary(1, 2) | {"skipped": {"count": 9, "first": first}}, "")
    shown = capsys.readouterr().err
    assert "  a.csv, row 0: expected 3 cells, got 2\n" in shown
    assert shown.count("a.csv, row") == 3


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show(summary(1, 2) | {"target": "[bold]load[/]", "source": "[red]"}, "[run]")
    shown = capsys.readouterr().err
    assert "[bold]load[/] of [red]" in shown and "in [run]." in shown
