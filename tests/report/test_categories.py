"""A run over categories in a study: bits, what came, what it rests on; no category is a height."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path

import numpy as np
import pytest

from tidegate._core.category_records import CategoryExpected, CategoryRecord
from tidegate._core.record_reader import read_category_records
from tidegate.report import (
    Study,
    csv_text,
    facts,
    forecast_study,
    html_page,
    plain_text,
    read_forecast,
    sentences,
)

from .conftest import Browser
from .test_page import data_of, numbers


def records(steps: int = 300) -> list[CategoryRecord]:
    """``a`` three times in four, ``b`` else; every tenth is missing, ``a`` is always foretold."""
    found = []
    for step in range(100, 100 + steps):
        actual = None if step % 10 == 3 else "b" if step % 4 == 0 else "a"
        found.append(
            CategoryRecord(
                step=step,
                time=f"t{step}",
                prediction="a",
                probability=0.5,
                actual=actual,
                bits=None if actual is None else 1.0 if actual == "a" else 3.0,
                experts={"after last": 0.25, "gated quick": 0.75},
                half_lives={"gated quick": None if step < 200 else 12.5},
                next=CategoryExpected(time=None, prediction="a", probability=0.5),
            )
        )
    return found


@pytest.fixture
def study() -> Study:
    return forecast_study(records(), Path("nowhere"), 10_000, "demo")


def test_bits_and_shares_are_those_of_the_records(study: Study) -> None:
    came = [r.actual for r in records() if r.actual is not None]
    share = came.count("b") / len(came)
    found = facts(study)["stream"]
    assert found["bits"] == pytest.approx(1 + 2 * share)
    assert found["right"] == pytest.approx(1 - share)
    assert found["entropy"] == pytest.approx(-share * log2(share) - (1 - share) * log2(1 - share))
    assert found["experts"] == {"gated quick": 0.75, "after last": 0.25}
    assert found["half_lives"] == {"gated quick": 12.5}


def test_what_is_said_of_them(study: Study) -> None:
    said = sentences(study)
    assert said[0].startswith("1.5") and "bits a row; by the frequencies of these rows" in said[0]
    assert any("gated quick 75 %, after last 25 %" in line for line in said)
    assert "Half-life in the middle of each network, in steps: gated quick 12.5." in said
    assert "Mean absolute error" not in plain_text(study)
    assert csv_text(study).splitlines()[1] == "gated quick,0.75"


def test_the_page_holds_texts_as_texts(study: Study) -> None:
    stream = data_of(html_page(study))["stream"]
    assert stream["prediction"] == ["a"] * 300
    assert stream["actual"] == [r.actual or "" for r in records()]
    bits = [np.nan if r.bits is None else r.bits for r in records()]
    np.testing.assert_array_equal(numbers(stream["bits"]), bits)


def test_they_are_read_from_a_folder(tmp_path: Path) -> None:
    lines = [record.to_json_line() for record in records()]
    lines[0] = lines[0].replace("{", '{"schema": 1, ', 1)
    (tmp_path / "records.jsonl").write_text("\n".join([*lines, ""]))
    found = read_forecast(tmp_path, 50, "demo", read=read_category_records)
    assert found.start == 350
    assert json.loads(json.dumps(facts(found)))["steps"] == 50


def test_a_figure_of_bits() -> None:
    figures = pytest.importorskip("tidegate.report.figures", reason="needs the extra plots")
    made = figures.figure(forecast_study(records(), Path("nowhere"), 100, "demo"))
    assert [axes.get_ylabel() for axes in made.axes] == ["bits of what came", "share of the expert"]


def test_in_a_browser(browser: Browser, study: Study, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html_page(study), encoding="utf-8")
    browser.open(page)
    assert browser.complaints() == []
    assert browser.run("return document.getElementById('error').hidden")
    for figure in ("stream", "experts", "half-lives"):
        assert browser.run(f"return document.querySelectorAll('#{figure} canvas').length") == 1
    browser.run("document.getElementById('step').value = 396")
    browser.run("document.getElementById('step').onchange()")
    later = "return new Promise(r => setTimeout(() => r(WHAT), 200))"
    reading = later.replace("WHAT", "document.querySelector('ID .reading').textContent")
    said = browser.run(reading.replace("ID", "#stream"))
    assert "most probable a (50 %), came b, 3 bits" in said
    assert "gated quick 12.5" in browser.run(reading.replace("ID", "#half-lives"))
    assert browser.complaints() == []
