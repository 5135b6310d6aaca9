"""Records of categories as lines of JSON and as columns, and back."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate import DataError
from tidegate._core.category_records import CategoryExpected, CategoryRecord
from tidegate._core.record_reader import read_category_records, read_records
from tidegate._core.recorders import recorder_for
from tidegate._core.records import with_schema

FULL = CategoryRecord(
    step=17,
    key="north",
    time="2015-07-01 16:00:00",
    prediction="sun",
    probability=0.75,
    actual='a "b",\nc',
    bits=2.0,
    flags=("warmup", "new"),
    experts={"frequencies": 0.25, "gated quick": 0.75},
    half_lives={"gated quick": None},
    next=CategoryExpected(
        time="2015-07-01 17:00:00",
        prediction="rain",
        probability=0.5,
        probabilities={"rain": 0.5, 'a "b",\nc': 0.25},
        other=0.25,
    ),
)
EMPTY = CategoryRecord(
    step=1, time=None, prediction=None, probability=None, actual=None, bits=None,
    next=CategoryExpected(time=None, prediction=None, probability=None),
)  # fmt: skip


def test_a_line_holds_every_field_under_its_name() -> None:
    fields = json.loads(FULL.to_json_line())
    assert fields["actual"] == 'a "b",\nc' and fields["bits"] == 2.0
    assert fields["next"]["probabilities"] == {"rain": 0.5, 'a "b",\nc': 0.25}
    assert list(fields) == [
        "step", "key", "time", "prediction", "probability", "actual", "bits", "flags", "next",
        "experts", "half_lives",
    ]  # fmt: skip
    assert "experts" not in json.loads(EMPTY.to_json_line())
    assert "\n" not in FULL.to_json_line()


@given(
    st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]))),
    st.one_of(st.none(), st.floats(0, 1e3)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_everything_comes_back(tmp_path: Path, text: str | None, number: float | None) -> None:
    records = [FULL, replace(FULL, actual=text, key=text, bits=number), EMPTY]
    first, *others = [record.to_json_line() for record in records]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join([with_schema(first), *others, ""]))
    assert list(read_category_records(str(path))) == records


def test_records_of_numbers_and_of_categories_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(with_schema(FULL.to_json_line()) + "\n")
    with pytest.raises(DataError, match="unknown fields"):
        list(read_records(str(path)))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_hold_texts_as_texts(tmp_path: Path, kind: str) -> None:
    out, records = tmp_path / f"r.{kind}", [FULL, replace(FULL, step=18, actual=None, bits=None)]
    with recorder_for(kind, str(out)) as recorder:
        for record in records:
            recorder.write(record)
    if kind == "parquet":
        table = pq.read_table(out)
        assert table.schema.field("actual").type == pa.string()
        assert table.schema.field("bits").type == pa.float64()
        found = table.to_pylist()
        assert found == [record.to_columns() for record in records]
    else:
        with out.open(newline="") as file:
            found = list(csv.DictReader(file))
        assert found[0]["actual"] == FULL.actual and found[1]["bits"] == ""
    assert json.loads(found[0]["next.probabilities"]) == FULL.next.probabilities
