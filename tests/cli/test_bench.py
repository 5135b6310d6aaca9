"""``tidegate bench``: the table, what it says of what is absent, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Call, csv
from tidegate.bench import METHODS

CHEAP = ("--method", "rls", "--method", "week-ago")


def test_the_table_has_the_smallest_error_first(call: Call, hourly: Path) -> None:
    done = call("bench", hourly, "--target", "load", "--time", "time", *CHEAP)
    assert done.code == 0
    rows = [line.split() for line in done.out.decode().splitlines()]
    errors = {row[0]: float(row[1]) for row in rows if len(row) == 7 and row[0] in METHODS}
    assert sorted(errors) == ["persistence", "rls", "week-ago"]
    assert list(errors.values()) == sorted(errors.values())
    assert "360 rows scored, after the first 40" in done.out.decode()


def test_json_has_figures_that_anybody_can_compute(call: Call) -> None:
    values = np.random.default_rng(1).normal(size=200)
    values[100] = np.nan
    done = call(
        "bench", "-", "--target", "load", "--warmup", "50", "--method", "persistence",
        "--format", "json", stdin=csv(values),
    )  # fmt: skip
    found = json.loads(done.out)
    last = np.where(np.isnan(values), np.roll(values, 1), values)  # filled by the value before
    error = np.abs(values[50:] - last[49:-1])
    (row,) = found["methods"]
    assert row["method"] == "persistence"
    assert row["mae"] == pytest.approx(np.nanmean(error))
    assert (row["scored"], row["skill_persistence"]) == (149, 0.0)
    assert (found["rows"], found["warmup"], found["step"]) == (200, 50, None)


def test_ours_takes_part_by_default_and_the_slow_ones_do_not(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in METHODS:
        if METHODS[name].package is not None:
            absent = replace(METHODS[name], module="no_such_module")
            monkeypatch.setitem(METHODS, name, absent)
    monkeypatch.setitem(METHODS, "rls", replace(METHODS["rls"], slow=True))
    done = call("bench", hourly, "--target", "load", "--time", "time", "--format", "json")
    found = json.loads(done.out)
    assert sorted(row["method"] for row in found["methods"]) == [
        "persistence", "tidegate", "week-ago",
    ]  # fmt: skip
    assert found["methods"][0]["method"] == "tidegate"
    assert {"method": "boosting", "package": "scikit-learn",
            "install": "pip install scikit-learn"} in found["absent"]  # fmt: skip
    assert "They need: pip install river" in done.err
    assert "with --method: rls." in done.err


def test_a_method_that_breaks_off_costs_no_other_its_line(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def predict(self, time: float) -> float:
            raise ZeroDivisionError("inside another package")

    monkeypatch.setitem(METHODS, "rls", replace(METHODS["rls"], make=lambda step, seed: Broken()))
    done = call("bench", hourly, "--target", "load", "--time", "time", *CHEAP, "--format", "json")
    found = json.loads(done.out)
    assert [row["method"] for row in found["methods"]] == ["week-ago", "persistence"]
    assert found["failed"] == {"rls": "ZeroDivisionError: inside another package"}
    assert "rls: broke off" in done.err


def test_without_times_what_needs_them_is_left_out_or_refused(call: Call, hourly: Path) -> None:
    done = call("bench", hourly, "--target", "load", "--method", "week-ago")
    assert done.code == 2
    assert "a stream with times" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--target", "load", "--method", "boostin"], 2, "Did you mean boosting?"),
        (["--method", "rls"], 2, "'load', 'wind'"),
        (["--target", "load", "--warmup", "400"], 2, "fewer than the 400 rows"),
        (["--target", "load", "--warmup", "390"], 3, "at least 20 values"),
        (["--target", "load", "--warmup", "-1"], 2, "--warmup"),
        (["--target", "load", "--time", "wind"], 3, "a time after that of the row before"),
        (["--target", "time"], 3, "a number"),
        (["--target", "load", "--format", "xml"], 2, "xml"),
        (["--target", "load", "--seed", "-1"], 2, "--seed"),
    ],
)
def test_nonsense_is_refused(
    call: Call, hourly: Path, arguments: list[str], code: int, words: str
) -> None:
    done = call("bench", hourly, *arguments)
    assert (done.code, done.out) == (code, b"")
    assert words in done.err


def test_a_column_without_numbers_is_refused(call: Call) -> None:
    done = call("bench", "-", "--target", "load", stdin=csv(np.full(50, np.nan)))
    assert done.code == 3
    assert "numbers in the target column" in done.err


def test_a_target_of_categories_is_refused(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_CATEGORIES", "true")
    done = call("bench", hourly, "--target", "load")
    assert done.code == 2 and "expected a target of numbers, got TIDEGATE_CATEGORIES" in done.err


def test_late_rows_can_be_skipped(call: Call, hourly: Path) -> None:
    lines = hourly.read_text().splitlines()
    lines.insert(101, lines[50])
    hourly.write_text("\n".join([*lines, ""]))
    asked = ["--target", "load", "--time", "time", "--method", "rls", "--format", "json"]
    assert call("bench", hourly, *asked).code == 3
    done = call("bench", hourly, *asked, "--on-bad-row", "skip")
    assert json.loads(done.out)["rows"] == 400
    assert "could not be read: 1." in done.err


def test_an_interrupt_shows_what_is_done(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(step: float | None, seed: int) -> object:
        if stopped.calls:
            raise KeyboardInterrupt
        stopped.calls += 1
        return None

    stopped.calls = 0  # type: ignore[attr-defined]
    monkeypatch.setitem(METHODS, "rls", replace(METHODS["rls"], make=stopped))
    done = call("bench", hourly, "--target", "load", "--time", "time", "--method", "rls")
    assert done.code == 130
    assert b"persistence" in done.out


def test_the_shipped_stream_needs_no_arguments(call: Call) -> None:
    done = call("bench", "--method", "persistence", "--format", "json")
    (row,) = json.loads(done.out)["methods"]
    assert row["mae"] == pytest.approx(621.04, abs=0.01)
    assert row["scored"] == 23_973
