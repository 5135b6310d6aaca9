"""Records as lines of JSON and as columns, and back."""

from __future__ import annotations

import json
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import DataError
from tidegate._core.record_reader import read_records
from tidegate._core.records import Forecast, Point, Record, with_schema

FULL = Record(
    step=17,
    key="north",
    time="2015-07-01 16:00:00",
    prediction=5.1,
    low=4.0,
    high=6.0,
    actual=5.5,
    error=0.4,
    flags=("clipped", "gap"),
    intervals={"0.9": (4.0, 6.0), "0.5": (None, None)},
    experts={"lstm": 0.5, "step": 0.5},
    half_lives={"lstm": 12.5, "step": None},
    score=2.5,
    next=Forecast(
        time="2015-07-01 17:00:00",
        prediction=5.5,
        low=4.5,
        high=6.5,
        intervals={"0.9": (4.5, 6.5)},
        path=(
            Point(step=18, time=None, prediction=5.5, intervals={"0.9": (4.5, 6.5)}),
            Point(step=19, time="later", prediction=None),
        ),
    ),
)


def bare(step: int = 1, **fields: Any) -> Record:
    given: dict[str, Any] = dict(time=None, prediction=None, actual=None, error=None)
    return Record(step=step, next=Forecast(time=None, prediction=None), **given | fields)


def read(folder: Path, *lines: str) -> list[Record]:
    path = folder / "records.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return list(read_records(str(path)))


def test_a_line_is_what_the_interface_says() -> None:
    record = Record(
        step=17,
        time="...",
        prediction=5.1,
        actual=5.4,
        error=0.3,
        next=Forecast(time=None, prediction=5.5),
    )
    assert record.to_json_line() == (
        '{"step": 17, "key": null, "time": "...", "prediction": 5.1, "low": null, "high": null, '
        '"actual": 5.4, "error": 0.3, "flags": [], '
        '"next": {"time": null, "prediction": 5.5, "low": null, "high": null}}'
    )


def test_optional_fields_stand_where_the_interface_says() -> None:
    fields = json.loads(FULL.to_json_line())
    assert fields["flags"] == ["clipped", "gap"]
    assert fields["intervals"] == {"0.9": [4.0, 6.0], "0.5": [None, None]}
    assert fields["experts"] == {"lstm": 0.5, "step": 0.5}
    assert fields["half_lives"] == {"lstm": 12.5, "step": None}
    assert fields["score"] == 2.5
    assert fields["next"]["path"] == [
        {"step": 18, "time": None, "prediction": 5.5, "intervals": {"0.9": [4.5, 6.5]}},
        {"step": 19, "time": "later", "prediction": None},
    ]


def test_only_the_first_line_needs_a_schema(tmp_path: Path) -> None:
    first, second = bare(1).to_json_line(), bare(2).to_json_line()
    assert json.loads(with_schema(first))["schema"] == 1
    assert [record.step for record in read(tmp_path, with_schema(first), second)] == [1, 2]
    with pytest.raises(DataError, match=r"records.jsonl, line 1: .*schema None, not 1"):
        read(tmp_path, first)
    with pytest.raises(DataError, match="schema 2, not 1"):
        read(tmp_path, first.replace("{", '{"schema": 2, ', 1))


def test_everything_comes_back(tmp_path: Path) -> None:
    assert read(tmp_path, with_schema(FULL.to_json_line())) == [FULL]


NUMBERS = st.one_of(st.none(), st.floats())
TEXTS = st.one_of(st.none(), st.text())


@given(st.lists(NUMBERS, min_size=7, max_size=7), TEXTS, TEXTS, st.lists(st.text(), max_size=3))
def test_numbers_come_back_to_the_bit_and_texts_to_the_letter(
    numbers: list[float | None], key: str | None, time: str | None, flags: list[str]
) -> None:
    names = ("prediction", "low", "high", "actual", "error", "score")
    record = bare(key=key, time=time, flags=tuple(flags), **dict(zip(names, numbers, strict=False)))
    record.next.prediction = numbers[6]
    fields = json.loads(record.to_json_line(), parse_constant=pytest.fail)
    assert (fields["key"], fields["time"], fields["flags"]) == (key, time, flags)
    for name, value in zip(names, numbers[:6], strict=True):
        assert_same(fields.get(name), value)
    assert_same(fields["next"]["prediction"], numbers[6])


def assert_same(found: float | None, value: float | None) -> None:
    if value is None or not isfinite(value):
        assert found is None
    else:
        assert found is not None and found.hex() == value.hex()


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    record = bare(prediction=np.float64(0.1), actual=np.float32(0.5), error=3, low=np.float64(nan))
    fields = json.loads(record.to_json_line())
    assert (fields["prediction"], fields["actual"], fields["error"]) == (0.1, 0.5, 3.0)
    assert fields["low"] is None
    assert type(record.to_columns()["prediction"]) is float


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_json_has_no_nan_anywhere(value: float) -> None:
    record = bare(
        prediction=value,
        score=value,
        intervals={"0.9": (value, value)},
        experts={"a": value},
    )
    record.next.path = (Point(step=2, time=None, prediction=value),)
    json.loads(record.to_json_line(), parse_constant=pytest.fail)
    assert not any(isinstance(cell, float) for cell in record.to_columns().values())


def test_columns_are_flattened_with_dots() -> None:
    columns = FULL.to_columns()
    assert list(columns)[:13] == [
        "step",
        "key",
        "time",
        "prediction",
        "low",
        "high",
        "actual",
        "error",
        "flags",
        "next.time",
        "next.prediction",
        "next.low",
        "next.high",
    ]
    assert columns["flags"] == "clipped gap"
    assert columns["next.prediction"] == 5.5
    assert (columns["intervals.0.9.low"], columns["intervals.0.9.high"]) == (4.0, 6.0)
    assert (columns["half_lives.lstm"], columns["experts.lstm"]) == (12.5, 0.5)
    assert columns["score"] == 2.5
    assert columns["next.intervals.0.9.high"] == 6.5
    assert (columns["next.path.0.step"], columns["next.path.1.time"]) == (18, "later")
    assert columns["next.path.0.intervals.0.9.low"] == 4.5
    assert len(bare().to_columns()) == 13


GOOD = json.loads(FULL.to_json_line())


@pytest.mark.parametrize(
    "change",
    [
        {"step": "17"},
        {"step": 17.0},
        {"step": True},
        {"time": 5},
        {"prediction": "5.1"},
        {"prediction": True},
        {"actual": [1]},
        {"flags": "gap"},
        {"flags": [1]},
        {"next": None},
        {"next": {"time": None}},
        {"next": {"time": None, "prediction": 1, "colour": 2}},
        {"intervals": {"0.9": [1]}},
        {"intervals": [1, 2]},
        {"experts": {"a": "b"}},
        {"surprise": 1},
    ],
)
def test_a_line_with_a_wrong_field_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"records\.jsonl, line 2"):
        read(tmp_path, with_schema(FULL.to_json_line()), json.dumps(GOOD | change))


def test_a_number_too_large_for_float64_is_refused(tmp_path: Path) -> None:
    for number in ("1e999", "-1e999", "1" + "0" * 400):
        line = FULL.to_json_line().replace('"prediction": 5.1', f'"prediction": {number}')
        with pytest.raises(DataError, match="line 1"):
            read(tmp_path, with_schema(line))


@pytest.mark.parametrize("name", ["step", "prediction", "actual", "error", "next"])
def test_a_line_without_a_field_is_refused(name: str, tmp_path: Path) -> None:
    rest = {field: value for field, value in GOOD.items() if field != name}
    with pytest.raises(DataError, match="line 1"):
        read(tmp_path, with_schema(json.dumps(rest)))


@pytest.mark.parametrize(
    "line", ["", "null", "[]", "17", "{", "[" * 100_000, '{"schema": 1, "step": NaN}', "1e999"]
)
def test_what_is_no_record_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1"):
        read(tmp_path, line)


def test_a_cut_line_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = with_schema(FULL.to_json_line())
    path = tmp_path / "records.jsonl"
    for size in range(1, len(whole)):
        path.write_text(whole[:size])
        with pytest.raises(DataError):
            list(read_records(str(path)))


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.jsonl"
    path.write_bytes(data)
    try:
        assert list(read_records(str(path))) == []
    except DataError as error:
        assert "line" in error.owner
