"""What only Parquet has: types, nulls, row groups."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, isnan, nan
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidegate import DataError, UsageError
from tidegate.streams import SkipBadRows, open_stream


def saved(folder: Path, **columns: object) -> str:
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return str(path)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], pa.int8()),
        ([1.5, -2.5, 0.1], pa.float64()),
        ([1.5, -2.5, 0.5], pa.float32()),
        ([2**63, 2**53 + 1, 5], pa.uint64()),
        ([Decimal("1.25"), Decimal("-3.50"), Decimal("0.10")], pa.decimal128(9, 2)),
        ([True, False, True], pa.bool_()),
        (["1", " 2 ", "1e3"], pa.string()),
        (["1", "2", "1"], pa.dictionary(pa.int8(), pa.string())),
        (["1", "2.5", "1"], pa.large_string()),
        (["1", "2.5", "1"], pa.string_view()),
    ],
)
def test_numbers_of_every_type(values: list[object], kind: pa.DataType, tmp_path: Path) -> None:
    source = saved(tmp_path, a=pa.array(values, kind))
    found = [float(row.values[0]) for row in open_stream(source, "a")]
    assert found == [float(value) for value in values]  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[None, nan, inf, -inf], ["", "NA", None, "1e400"], [None] * 4])
def test_missing_values(values: list[object], tmp_path: Path) -> None:
    found = [float(row.values[0]) for row in open_stream(saved(tmp_path, a=values), "a")]
    assert len(found) == 4 and all(map(isnan, found))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([datetime(2015, 7, 1, 1), None], ["2015-07-01 01:00:00.000000", None]),
        ([datetime(2015, 7, 1, 1, tzinfo=UTC)] * 2, ["2015-07-01 01:00:00.000000Z"] * 2),
        ([date(2015, 7, 1)] * 2, ["2015-07-01"] * 2),
        ([3, 4], ["3", "4"]),
        (["noon", ""], ["noon", None]),
    ],
)
def test_times_as_text(values: list[object], texts: list[str | None], tmp_path: Path) -> None:
    source = saved(tmp_path, t=values, a=[1, 2])
    assert [row.time for row in open_stream(source, "a", time="t")] == texts


def test_bad_cells_are_named_and_may_be_passed_over(tmp_path: Path) -> None:
    source = saved(tmp_path, a=["1", "x", "3", "y", "5"], b=["1", "2", "z", "w", "5"])
    with pytest.raises(DataError, match=r"a.parquet, row 2, column 'a': .* got 'x'"):
        list(open_stream(source, "a", ["b"]))
    skipped = SkipBadRows()
    rows = list(open_stream(source, "a", ["b"], bad_rows=skipped))
    assert [row.number for row in rows] == [1, 5]
    assert [error.owner.split(", ", 1)[1] for error in skipped.named] == [
        "row 2, column 'a'",
        "row 3, column 'b'",
        "row 4, column 'a'",
    ]


def test_a_column_without_numbers_is_refused(tmp_path: Path) -> None:
    source = saved(tmp_path, a=[[1], [2]], b=[datetime(2015, 7, 1)] * 2)
    for name in ("a", "b"):
        with pytest.raises(UsageError, match="a column of numbers"):
            open_stream(source, name)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]), path)
    with pytest.raises(UsageError, match="'a' twice"):
        open_stream(str(path), "a")
    assert [row.values[0] for row in open_stream(str(path), "b")] == [1]


def test_a_table_without_rows_is_an_empty_stream(tmp_path: Path) -> None:
    assert list(open_stream(saved(tmp_path, a=pa.array([], pa.int64())), "a")) == []


def test_rows_are_numbered_across_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path)
    rows = list(open_stream(str(path), "a"))
    assert [row.number for row in rows] == [int(row.values[0]) + 1 for row in rows]
    assert len(rows) == 10_000


def not_utf8(*cells: bytes) -> pa.Array:
    return pa.Array.from_buffers(pa.string(), len(cells), pa.array(cells, pa.binary()).buffers())


def test_what_is_no_utf_8_spoils_its_cell_alone(tmp_path: Path) -> None:
    spoilt = not_utf8(b"1", b"2\xff", b"3")
    source = saved(tmp_path, a=spoilt, t=not_utf8(b"x", b"y", b"\xe9"), b=[1, 2, 3])
    skipped = SkipBadRows()
    rows = list(open_stream(source, "a", ["b"], "t", bad_rows=skipped))
    assert [(row.number, row.time, *row.values) for row in rows] == [(1, "x", 1, 1)]
    assert [error.owner.split(", ", 1)[1] for error in skipped.named] == [
        "row 2, column 'a'",
        "row 3, column 't'",
    ]
    assert "a time in UTF-8" in str(skipped.named[1])


def test_a_wrong_decimal_mark_is_seen(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Then read it with --decimal ','"):
        list(open_stream(saved(tmp_path, a=["1", "2,5"]), "a"))


def test_a_zone_that_nobody_knows_is_told(tmp_path: Path) -> None:
    times = pa.array([0, 1], pa.timestamp("s", "Nowhere/Atlantis"))
    source = saved(tmp_path, a=[1, 2], t=times)
    with pytest.raises(DataError, match="a sound Parquet file"):
        list(open_stream(source, "a", time="t"))


def test_pages_whose_sum_does_not_match_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(pa.table({"a": [1.5, 2.5, 3.5]}), path, write_page_checksum=True, **plain)
    whole = path.read_bytes()
    place = whole.index(b"\0\0\xf8\x3f")  # 1.5 where it lies
    path.write_bytes(whole[: place + 3] + b"\x40" + whole[place + 4 :])
    with pytest.raises(DataError, match="a sound Parquet file"):
        list(open_stream(str(path), "a"))
