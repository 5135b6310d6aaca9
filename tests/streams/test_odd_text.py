"""Text as people have it: wrong separators and marks, stray quotes, huge lines and headers."""

from __future__ import annotations

import csv
import gzip
import io
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate import DataError, UsageError
from tidegate.streams import SkipBadRows, StopAtBadRow, decimal_comma, decimal_point, open_stream
from tidegate.streams import files as files_module
from tidegate.streams.numbers import Number
from tidegate.streams.text import TextStream


def stream(
    text: str, *columns: str, separator: str = ",", number: Number = decimal_point
) -> tuple[TextStream, SkipBadRows]:
    skipped = SkipBadRows()
    lines = io.StringIO(text, newline="")
    return TextStream("a.csv", lines, columns, None, separator, number, skipped), skipped


def values(text: str, *columns: str, separator: str = ",") -> list[list[float]]:
    return [row.values.tolist() for row in stream(text, *columns, separator=separator)[0]]


@pytest.mark.parametrize(
    ("header", "separator", "told"),
    [
        ("time;load;wind", ",", "parted by ';'"),
        ("time\tload", ",", "parted by a tab"),
        ("time|load", ",", "parted by '|'"),
        ("time,load", ";", "parted by ','"),
    ],
)
def test_a_wrong_separator_is_seen(header: str, separator: str, told: str) -> None:
    with pytest.raises(UsageError, match="Then name it with --separator") as caught:
        stream(f"{header}\n1\n", "load", separator=separator)
    assert told in caught.value.help


def test_a_header_in_another_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Zeit,Größe\n1,2\n".encode("latin-1"))
    with pytest.raises(UsageError, match="no UTF-8: convert the file"):
        open_stream(str(path), "Temperatur")
    assert [row.values[0] for row in open_stream(str(path), "Zeit")] == [1]


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n", "\r", "tab"])
def test_what_can_part_no_cells_is_refused(separator: str) -> None:
    with pytest.raises(UsageError) as caught:
        stream("a,b\n", "a", separator=separator)
    assert (caught.value.owner, caught.value.got) == ("--separator", repr(separator))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", ":", "·"])
def test_any_character_may_part_cells(separator: str) -> None:
    text = 'time,load,wind\n"a,b",1.5,2\n'.replace(",", separator)
    assert values(text, "wind", "load", separator=separator) == [[2, 1.5]]


@pytest.mark.parametrize(
    ("cell", "number", "told"),
    [
        ("12,5", decimal_point, "--decimal ','"),
        ("-3,25e3", decimal_point, "--decimal ','"),
        ("12.5", decimal_comma, "--decimal '.'"),
        ("12,500", decimal_point, ""),
        ("1.234.567", decimal_comma, ""),
        ("12,5 MW", decimal_point, ""),
    ],
)
def test_a_wrong_decimal_mark_is_seen(cell: str, number: Number, told: str) -> None:
    rows, skipped = stream(f"a;b\n{cell};1\n", "a", separator=";", number=number)
    assert list(rows) == []
    assert told in skipped.named[0].help and ("--decimal" in skipped.named[0].help) == bool(told)


STRAY = [
    # Without strictness the csv module takes the second row for a part of the first.
    ('a,b\n1,"x\n2,"y\n3,z\n4,4\n', [3, 4]),
    ('a,b\n1,"x"y\n4,4\n', [4]),
    ('a,b\n1,"x" "y"\n4,4\n', [4]),
    ('a,b\n1,"x\n2,y"z,\n4,4\n', [4]),
]


@pytest.mark.parametrize(("text", "good"), STRAY)
def test_text_after_a_closing_quote_is_a_bad_row(text: str, good: list[float]) -> None:
    rows, skipped = stream(text, "a")
    assert [row.values[0] for row in rows] == good
    assert skipped.count == 1 and "expected after" in skipped.named[0].got


@pytest.mark.parametrize("end", ["", "\n", "\n5,6\n", "," * 5])
def test_a_quote_that_nothing_closes_is_no_value(end: str) -> None:
    rows, skipped = stream(f'a,b\n1,2\n3,"4{end}', "b")
    assert [row.values[0] for row in rows] == [2]
    assert skipped.count == 1 and skipped.named[0].owner == "a.csv, row 2"


def test_a_header_whose_quote_nothing_closes_is_no_header() -> None:
    with pytest.raises(DataError, match="a header line, got unexpected end"):
        stream('"a,b\n1,2\n', "a")


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('"x" , "1" ', ["x", 1]),
        ('"x",1\t', ["x", 1]),
        ('"a "", b" ,2', ['a "", b'.replace('""', '"'), 2]),
        ('" ,x" ,2', [" ,x", 2]),
        ('"a,"" ,b" ,2', ['a," ,b', 2]),
    ],
)
def test_spaces_around_quotes_are_nothing(line: str, cells: list[object]) -> None:
    lines = io.StringIO(f"t,a\n{line}\n", newline="")
    rows = list(TextStream("-", lines, ["a"], "t", ",", decimal_point, StopAtBadRow()))
    assert [[row.time, row.values[0]] for row in rows] == [cells]


def test_spaces_after_the_quote_of_a_cell_over_lines_are_no_other_row() -> None:
    rows, skipped = stream('t,a\n"x\ny" ,1\n3,4\n', "a")
    assert [row.values[0] for row in rows] == [4]
    assert skipped.count == 1


def rows_of_csv(text: str) -> list[list[str]]:
    """What Python's csv module reads, strictly; without blank lines."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    return [cells for cells in reader if cells]


PIECES = st.sampled_from(["1", "2.5", ",", ",", "\n", "\r\n", '"', '"', '""', " ", "x", "é", "\0"])


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_where_the_csv_module_reads_so_do_we(text: str) -> None:
    rows, skipped = stream("a,b\n" + text, "b")
    found = list(rows)
    try:
        table = rows_of_csv(text)
    except csv.Error:
        return
    good = []
    for cells in table:
        try:
            good.append(decimal_point(cells[1])) if len(cells) == 2 else None
        except ValueError:
            continue
    assert repr([float(row.values[0]) for row in found]) == repr(good)
    assert len(found) + skipped.count == len(table)


def test_a_line_of_a_hundred_megabytes_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,2\n3," + b"9" * 100_000_000 + b"\n5,6\n")
    skipped = SkipBadRows()
    assert [row.values[0] for row in open_stream(str(path), "b", bad_rows=skipped)] == [2, 6]
    assert skipped.count == 1 and len(str(skipped.named[0])) < 300 + len(str(path))


def test_a_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "LONGEST", 100_000)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n" + bytes(30_000_000)))
    rows = iter(open_stream(str(path), "a"))
    assert next(rows).values[0] == 1
    tracemalloc.start()
    with pytest.raises(DataError, match="fewer than 100,000 letters"):
        next(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_fifty_megabytes_need_constant_memory() -> None:
    line = "2015-07-01 00:00:00,12.5," + "x" * 10_000 + "\n"

    def lines() -> Iterator[str]:
        yield "time,load,note\n"
        for _ in range(5_000):
            yield line + ""

    rows = iter(TextStream("-", lines(), ["load"], "time", ",", decimal_point, StopAtBadRow()))
    next(rows)
    tracemalloc.start()
    assert sum(1 for _ in rows) == 4_999
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_a_million_names_are_searched_in_bounded_work() -> None:
    header = ",".join(f"c{i}" for i in range(1_000_000))
    with pytest.raises(UsageError, match=r"Did you mean 'c123'\?"):
        stream(f"{header}\n", "c123x")


def test_columns_without_a_name_need_none() -> None:
    assert values(",a,\n1,2,3\n", "a") == [[2]]
    with pytest.raises(UsageError, match="'' twice"):
        stream(",a,\n1,2,3\n", "")
