"""A column of categories: its text as it stands, missing only where the cell is empty."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidegate import DataError, UsageError
from tidegate.streams import SkipBadRows, open_stream

CELLS = [" sun ", "", "NA", ".", "-", '"a, b"', "1", "1.0", "null", "Zürich"]
TEXTS = ["sun", None, "NA", ".", "-", "a, b", "1", "1.0", "null", "Zürich"]


def test_text_is_handed_on_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["sky,n", *(f"{cell},5" for cell in CELLS), ""]), encoding="utf-8")
    found = list(open_stream(str(path), None, category="sky"))
    assert [row.category for row in found] == TEXTS
    assert [row.values.tolist() for row in found] == [[]] * len(CELLS)
    with_numbers = open_stream(str(path), "n", category="sky")
    assert [float(row.values[0]) for row in with_numbers] == [5.0] * len(CELLS)


def test_a_blank_line_of_one_column_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sky\nsun\n\nrain\n")
    assert [r.category for r in open_stream(str(path), None, category="sky")] == [
        "sun", None, "rain",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["sun", None, " rain "], ["sun", None, "rain"]),
        (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b", None]),
        ([1, None, 3], ["1", None, "3"]),
        ([True, False, None], ["true", "false", None]),
        ([date(2021, 1, 2), None, None], ["2021-01-02", None, None]),
    ],
)
def test_parquet_columns_of_any_type(values: object, texts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"sky": values}), path)
    assert [row.category for row in open_stream(str(path), None, category="sky")] == texts


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_no_utf8_is_a_bad_row(kind: str, tmp_path: Path) -> None:
    path, cells = tmp_path / f"a.{kind}", [b"sun", b"Z\xfcrich", b"rain"]
    if kind == "csv":
        path.write_bytes(b"\n".join([b"sky", *cells, b""]))
    else:
        size = pa.py_buffer(bytes(bytearray(pa.array([0, 3, 9, 13], pa.int32()).buffers()[1])))
        text = pa.StringArray.from_buffers(3, size, pa.py_buffer(b"".join(cells)))
        pq.write_table(pa.table({"sky": text}), path)
    with pytest.raises(DataError, match=r"row 2, column 'sky': expected a category in UTF-8"):
        list(open_stream(str(path), None, category="sky"))
    skipped = SkipBadRows()
    stream = open_stream(str(path), None, category="sky", bad_rows=skipped)
    assert [row.category for row in stream] == ["sun", "rain"] and skipped.count == 1


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sky\nsun\n")
    with pytest.raises(UsageError, match="expected one of 'sky', got 'skies'"):
        open_stream(str(path), None, category="skies")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_text_where_a_number_should_be_may_be_a_category(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        path.write_text("sky,n\nrain,1\n")
    else:
        pq.write_table(pa.table({"sky": ["rain"], "n": ["x"]}), path)
    with pytest.raises(DataError, match="got 'rain'. Is it a category?"):
        list(open_stream(str(path), "sky"))
    path_of_inputs = tmp_path / "b.csv"
    path_of_inputs.write_text("sky,n\nrain,1\n")
    with pytest.raises(DataError) as error:
        list(open_stream(str(path_of_inputs), "n", ["sky"]))
    assert "category" not in str(error.value)
