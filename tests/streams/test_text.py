"""Rows from lines of text: right values, wrong rows, odd headers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import DataError, UsageError
from tidegate.streams import BadRows, Row, SkipBadRows, StopAtBadRow, decimal_comma, decimal_point
from tidegate.streams.numbers import Number
from tidegate.streams.text import TextStream


def stream(
    text: str,
    *columns: str,
    time: str | None = None,
    separator: str = ",",
    number: Number = decimal_point,
    bad_rows: BadRows | None = None,
) -> TextStream:
    lines = io.StringIO(text, newline="")
    bad_rows = bad_rows or StopAtBadRow()
    return TextStream("a.csv", lines, columns, time, separator, number, bad_rows)


def values(rows: TextStream) -> list[list[float]]:
    return [row.values.tolist() for row in rows]


def test_target_comes_first_and_time_is_kept_as_it_stood() -> None:
    rows = list(stream("time,b,a\n 2015-07-01 ,1,2\n,3,4\n", "a", "b", time="time"))
    assert [row.values.tolist() for row in rows] == [[2.0, 1.0], [4.0, 3.0]]
    assert [row.time for row in rows] == ["2015-07-01 ", None]
    assert [row.number for row in rows] == [1, 2]
    assert rows[0].values.dtype == np.float64


def test_without_a_time_column_rows_have_none() -> None:
    assert [row.time for row in stream("time,a\nx,1\n", "a")] == [None]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_and_quotes(end: str) -> None:
    text = end.join(['time,"a"', '"noon, about","1"', f'"two{end}lines",2', '"a ""b""", 3', ""])
    rows = list(stream(text, "a", time="time"))
    assert [float(row.values[0]) for row in rows] == [1, 2, 3]
    assert [row.time for row in rows] == ["noon, about", f"two{end}lines", 'a "b"']


def test_spaces_around_names_do_not_matter() -> None:
    assert values(stream('time , "load" , wind\n1,2,3\n', "load", "wind")) == [[2, 3]]


def test_a_last_line_without_an_end_counts() -> None:
    assert values(stream("a\n1\n2", "a")) == [[1], [2]]


def test_header_only_is_an_empty_stream() -> None:
    assert values(stream("time,a\n", "a")) == []


@pytest.mark.parametrize("text", ["", "\n", "\r\n\n"])
def test_no_line_at_all_is_no_header(text: str) -> None:
    with pytest.raises(DataError, match="expected a header line, got nothing"):
        stream(text, "a")


def test_blank_lines_are_no_rows_among_several_columns() -> None:
    rows = list(stream("\na,b\n\n1,2\n\n3,4\n\n", "a"))
    assert [(row.number, row.values[0]) for row in rows] == [(1, 1), (2, 3)]


def test_a_blank_line_is_a_missing_value_in_a_single_column() -> None:
    found = [row.values[0] for row in stream("a\n1\n\n3\n", "a")]
    assert found[::2] == [1, 3] and isnan(found[1])


def test_other_separators_and_decimal_commas() -> None:
    german = stream("zeit;last\n1.7.2015;1,5\n", "last", separator=";", number=decimal_comma)
    assert values(german) == [[1.5]]


def test_an_unknown_column_is_refused_with_the_nearest_and_all() -> None:
    with pytest.raises(UsageError) as caught:
        stream("time,load,wind\n", "laod")
    assert caught.value.exit_code == 2
    assert "'time', 'load', 'wind'" in str(caught.value)
    assert "Did you mean 'load'?" in str(caught.value)


def test_a_million_columns_are_not_all_named() -> None:
    header = ",".join(f"c{i}" for i in range(1_000_000))
    with pytest.raises(UsageError, match="and 999,900 more") as caught:
        stream(header + "\n", "ÅÅÅ")
    assert len(str(caught.value)) < 2_000
    assert values(stream(f"{header}\n{header.replace('c', '')}\n", "c999999")) == [[999_999]]


def test_a_file_without_a_header_is_told_so() -> None:
    with pytest.raises(UsageError, match="put a line of column names"):
        stream("1,2\n3,4\n", "load")


def test_a_name_that_stands_twice_is_refused_only_where_it_is_meant() -> None:
    assert values(stream("x,a,x\n1,2,3\n", "a")) == [[2]]
    with pytest.raises(UsageError, match="'x' twice"):
        stream("x,a,x\n1,2,3\n", "x")


def test_a_column_asked_for_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'a' twice"):
        stream("a,b\n", "a", "b", "a")


BAD = "time,a,b\nt1,1,2\nt2,abc,2\nt3,4\nt4,5,6,7\nt5,8,1_000\nt6,9,10\n"


def test_the_first_bad_row_ends_the_stream_after_the_good_ones() -> None:
    rows = iter(stream(BAD, "a", "b", time="time"))
    assert next(rows).values.tolist() == [1, 2]
    with pytest.raises(DataError) as caught:
        next(rows)
    assert caught.value.exit_code == 3
    assert caught.value.owner == "a.csv, row 2, column 'a'"
    assert caught.value.got == "'abc'"


def test_bad_rows_are_passed_over_counted_and_named() -> None:
    skipped = SkipBadRows()
    rows = list(stream(BAD, "a", "b", time="time", bad_rows=skipped))
    assert [(row.number, row.time) for row in rows] == [(1, "t1"), (6, "t6")]
    assert skipped.count == 4
    assert [(error.owner, error.expected, error.got) for error in skipped.named] == [
        ("a.csv, row 2, column 'a'", "a number", "'abc'"),
        ("a.csv, row 3", "3 cells", "2"),
        ("a.csv, row 4", "3 cells", "4"),
        ("a.csv, row 5, column 'b'", "a number", "'1_000'"),
    ]


def test_a_column_that_nobody_reads_may_hold_anything() -> None:
    assert values(stream("a,b\n1,\udcff\n", "a")) == [[1]]


def test_a_time_that_is_no_text_is_a_bad_row() -> None:
    with pytest.raises(DataError, match="row 1, column 'time': expected a time in UTF-8"):
        list(stream("time,a\n\udcff,1\n", "a", time="time"))


def test_names_of_bad_rows_need_constant_memory() -> None:
    skipped = SkipBadRows(keep=3)
    assert values(stream("a\n" + "x\n" * 1000, "a", bad_rows=skipped)) == []
    assert (skipped.count, len(skipped.named)) == (1000, 3)


def test_an_endless_cell_is_a_bad_row_and_not_the_end() -> None:
    skipped = SkipBadRows()
    text = "a,b\n1,2\n3," + "9" * 200_000 + "\n5,6\n"
    assert values(stream(text, "a", bad_rows=skipped)) == [[1], [5]]
    assert skipped.named[0].owner == "a.csv, row 2"


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(DataError) as caught:
        list(stream("a\n" + "x" * 100_000 + "\n", "a"))
    assert len(str(caught.value)) < 300


def test_utf_16_is_named() -> None:
    text = "a,b\n1,2\n".encode("utf-16").decode("utf-8", "surrogateescape")
    with pytest.raises(DataError, match="UTF-16"):
        stream(text, "a")


def test_a_source_that_breaks_off_is_no_end() -> None:
    def lines() -> Iterator[str]:
        yield from ("a\n", "1\n")
        raise EOFError("cut")

    skipped = SkipBadRows()
    rows = iter(TextStream("a.gz", lines(), ["a"], None, ",", decimal_point, skipped))
    assert next(rows).number == 1
    with pytest.raises(DataError, match="a.gz, after row 1: .* EOFError: cut"):
        next(rows)
    assert skipped.count == 0


def test_a_row_is_there_as_soon_as_its_line_is() -> None:
    asked: list[int] = []

    def lines() -> Iterator[str]:
        yield "a\n"
        for i in range(1_000_000):
            asked.append(i)
            yield f"{i}\n"

    rows = iter(TextStream("-", lines(), ["a"], None, ",", decimal_point, StopAtBadRow()))
    for expected in range(5):
        assert next(rows).values[0] == expected
        assert asked == list(range(expected + 1))


def test_reading_goes_on_where_it_stopped() -> None:
    rows = stream("a\n1\n2\n3\n", "a")
    first: Row = next(iter(rows))
    assert (first.number, [row.number for row in rows]) == (1, [2, 3])


CELL = st.one_of(
    st.floats().map(repr), st.sampled_from(["", "NA", "?", " 3 ", '"4"', "1_0", "x"]), st.text()
)


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=8))
def test_any_written_table_is_read_as_the_csv_module_reads_it(table: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b"], *table])
    skipped = SkipBadRows()
    rows = list(stream(text.getvalue(), "b", bad_rows=skipped))
    assert len(rows) + skipped.count == len(table)
    for row in rows:
        cells = table[row.number - 1]
        assert len(cells) == 2
        np.testing.assert_array_equal(row.values, [decimal_point(cells[1])])


@given(st.text(alphabet='ab,"\n\r \x00;1\ufeff', max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    skipped = SkipBadRows()
    rows = list(stream("a,b\n" + text, "b", time="a", bad_rows=skipped))
    assert len(rows) + skipped.count <= text.count("\n") + text.count("\r") + 1
