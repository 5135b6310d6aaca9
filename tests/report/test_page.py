"""The page holds all it needs, keeps every forget event, and works in a browser."""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate._core.trace import Trace
from tidegate.memory import memory_age, retention_curve
from tidegate.report import Study, html_page
from tidegate.report.payload import COLUMNS, payload

from .conftest import Browser, bursting

RIGHT = "\ue014"  # as WebDriver calls the key


def numbers(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["kind"])


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_nothing_is_fetched(study: Study) -> None:
    page = html_page(study)
    assert not re.search(r"https?:|[\"']//|@import|<link(?! rel=\"icon\" href=\"data:,\")", page)
    assert not re.search(r"\ssrc\s*=|url\((?!data:)", page)
    assert "default-src 'none'" in page


def test_the_licence_of_the_charts_is_in_the_page(study: Study) -> None:
    assert "Copyright (c) 2022 Leon Sorokin" in html_page(study)


def test_a_title_cannot_break_out(study: Study) -> None:
    page = html_page(study)
    assert "a &amp; b &lt;/script&gt;" in page
    assert page.count("<script") == page.count("</script>")


def test_times_cannot_break_out(study: Study) -> None:
    assert study.stream is not None
    times = ("</script><b>",) * len(study.stream.steps)
    page = html_page(replace(study, stream=replace(study.stream, times=times)))
    assert data_of(page)["stream"]["times"][0] == "</script><b>"


def test_one_step_of_forgetting_survives_the_overview() -> None:
    kept = np.full((7_000, 1, 1), np.log(0.99))
    kept[3_111] = np.log(1e-6)
    found = payload(Study("", Trace({"c": kept})))
    least = numbers(found["overview"]["minimum"])
    every = found["overview"]["every"]
    assert len(least) <= COLUMNS
    assert np.flatnonzero(least < np.log(0.5)).tolist() == [3_111 // every]
    assert least.min() == pytest.approx(np.log(1e-6))


def test_half_lives_beyond_single_precision_survive() -> None:
    kept = np.full((300, 1, 1), -7.7e-53)
    found = payload(Study("", Trace({"c": kept})))
    assert numbers(found["detail"]["log_retention"])[0] == -7.7e-53


def test_many_units_leave_fewer_steps_in_full() -> None:
    kept = np.full((1_500, 1, 400), -0.1)
    found = payload(Study("", Trace({"c": kept})))
    assert 200 <= found["detail"]["steps"] < 1_500
    assert found["detail"]["first"] + found["detail"]["steps"] == 1_500


def test_no_complaint_and_every_chart_is_there(opened: Browser) -> None:
    assert opened.complaints() == []
    filled = opened.run(
        "return [...document.querySelectorAll('figure .plot')].map(p => p.childElementCount)"
    )
    assert len(filled) == 9 and min(filled) >= 1
    fetched = opened.run("return performance.getEntriesByType('resource').length")
    assert fetched == 0


def test_every_chart_has_a_table(opened: Browser) -> None:
    opened.run("for (const d of document.querySelectorAll('figure details')) d.open = true")
    time.sleep(0.2)
    rows = opened.run(
        "const all = [...document.querySelectorAll('figure details')];"
        "return all.map(d => d.querySelectorAll('tbody tr').length)"
    )
    assert len(rows) >= 8 and min(rows) > 0
    assert opened.complaints() == []


def test_keys_pick_the_next_step_and_all_follow(opened: Browser, study: Study) -> None:
    before = int(opened.run("return document.getElementById('step').value"))
    assert before == study.events[-1].step or before < 100 + study.trace.steps
    opened.run("document.querySelector('#map .plot').focus()")
    opened.press(RIGHT)
    time.sleep(0.2)
    assert int(opened.run("return document.getElementById('step').value")) == before + 1
    said = opened.run("return document.querySelector('#cell .reading').textContent")
    assert f"step {before + 1}" in said
    c = float(study.trace.memory["c"][before + 1 - study.start, 0, 0])
    shown = opened.run(
        "const place = '#equations mn[data-value=\"memory.c\"][data-last]';"
        "return document.querySelector(place).textContent"
    )
    assert float(shown.replace("−", "-")) == pytest.approx(c, rel=6e-3)


def test_curves_of_the_page_are_those_of_the_library(opened: Browser, study: Study) -> None:
    script = """
      const part = JSON.parse(document.getElementById('data').textContent).detail;
      part.log_retention = tidegate.array(part.log_retention);
      part.memory.c = tidegate.array(part.memory.c);
      return [tidegate.retentionCurve(part, 420, 1, 100), tidegate.memoryAge(part, 420, 1)];
    """
    curve, age = opened.run(script)
    assert curve == pytest.approx(retention_curve(study.trace, 420).share[:100, 0, 1].tolist())
    parts = memory_age(study.trace, 420).parts[::-1, 0, 1]
    assert age == pytest.approx(parts.tolist(), abs=1e-6)
    assert sum(age) == pytest.approx(float(study.trace.memory["c"][420, 0, 1]), abs=1e-6)


def test_a_foreign_cell_with_a_sign_and_resets_works(browser: Browser, tmp_path: Path) -> None:
    trace = bursting(cell="Own()")
    reset = np.zeros((trace.steps, 1), bool)
    reset[300] = True
    kept = trace.log_retention["c"].copy()
    kept[5] = -np.inf
    sign = {
        "c": np.where(np.arange(trace.steps) % 2, 1.0, -1.0)[:, None, None] * np.ones(kept.shape)
    }
    changed = replace(trace, log_retention={"c": kept}, retention_sign=sign, reset=reset)
    page = tmp_path / "page.html"
    page.write_text(html_page(Study("", changed)), encoding="utf-8")
    browser.open(page)
    assert browser.complaints() == []
    assert browser.run("return document.getElementById('stream-section').hidden") is True


def test_the_view_opens_on_some_steps_and_goes_where_one_picks(
    browser: Browser, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    kept = np.full((6_000, 1, 1), np.log(0.9))
    page.write_text(html_page(Study("", Trace({"c": kept}))), encoding="utf-8")
    browser.open(page)
    ends = [_picked(browser, key) for key in ("Home", "End")]
    assert ends == [5_500, 5_999]
    browser.run("const s = document.getElementById('step'); s.value = 1000; s.onchange()")
    time.sleep(0.2)
    ends = [_picked(browser, key) for key in ("Home", "End")]
    assert ends[0] <= 1000 <= ends[1] == ends[0] + 499


def _picked(browser: Browser, key: str) -> int:
    """The step that is picked after a key in a chart over time."""
    browser.run(
        "document.querySelector('#map .plot').dispatchEvent("
        f"new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
    )
    time.sleep(0.2)
    return int(browser.run("return document.getElementById('step').value"))


def test_a_column_is_the_least_of_its_steps_or_their_mean(browser: Browser, tmp_path: Path) -> None:
    kept = np.full((6_000, 1, 1), np.log(0.9))
    kept[3_333] = np.log(1e-3)
    page = tmp_path / "page.html"
    page.write_text(html_page(Study("", Trace({"c": kept}))), encoding="utf-8")
    browser.open(page)
    count = """
      const canvas = document.querySelector('#map canvas'), ctx = canvas.getContext('2d');
      const left = tidegate.LEFT, width = canvas.clientWidth - left - tidegate.RIGHT;
      const pixels = ctx.getImageData(left, 8, width, 1).data;
      let bright = 0;
      for (let x = 0; x < width; x++) bright += pixels[4 * x] > 240 && pixels[4 * x + 1] > 200;
      return bright;
    """
    assert browser.complaints() == []
    browser.run("document.getElementById('zoom-all').click()")
    time.sleep(0.2)
    assert browser.run(count) == 1
    browser.run("const c = document.getElementById('map-column'); c.value = 'mean'; c.onchange()")
    assert browser.run(count) == 0
