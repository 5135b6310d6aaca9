"""One table in every kind of file and through a pipe: the same rows."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidegate import DataError, UsageError
from tidegate.streams import Row, SkipBadRows, Stream, open_stream

ROWS = 5_000
HEADER = ("time", "load", "wind")


def cells() -> list[tuple[str, str, str]]:
    random = np.random.default_rng(0)
    found = [
        (f"2015-07-01 00:00:{i}", repr(load), repr(wind))
        for i, (load, wind) in enumerate(random.standard_normal((ROWS, 2)).tolist())
    ]
    found[10] = ("", "NA", "1e400")
    found[11] = ("t", "", "-inf")
    return found


def table(separator: str = ",", end: str = "\n") -> bytes:
    return "".join(separator.join(row) + end for row in [HEADER, *cells()]).encode()


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data))


def parquet_of(columns: dict[str, list[object]], **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, **options)
    return bytes(sink.getvalue())


def parquet() -> bytes:
    time, load, wind = zip(*cells(), strict=True)
    numbers = [[None if cell in ("NA", "") else float(cell) for cell in c] for c in (load, wind)]
    return parquet_of({"time": list(time), "load": numbers[0], "wind": numbers[1]})


FORMS: dict[str, Callable[[], bytes]] = {
    "a.csv": table,
    "crlf.csv": lambda: table(end="\r\n"),
    "bom.csv": lambda: b"\xef\xbb\xbf" + table(),
    "UPPER.CSV": table,
    "a.tsv": lambda: table("\t"),
    "a.csv.gz": lambda: gzip.compress(table()),
    "members.csv.gz": lambda: gzip.compress(table()[:999]) + gzip.compress(table()[999:]),
    "a.tsv.gz": lambda: gzip.compress(table("\t")),
    "a.csv.zst": lambda: zstd(table()),
    "a.parquet": parquet,
}


def written(folder: Path, name: str) -> str:
    path = folder / name
    path.write_bytes(FORMS[name]())
    return str(path)


def bits(rows: list[Row]) -> list[tuple[int, str | None, bytes]]:
    return [(row.number, row.time, np.asarray(row.values).tobytes()) for row in rows]


def expected() -> list[tuple[int, str | None, bytes]]:
    found = []
    for number, (time, load, wind) in enumerate(cells(), 1):
        pair = [float("nan") if cell in ("NA", "") else float(cell) for cell in (wind, load)]
        pair = [value if np.isfinite(value) else np.nan for value in pair]
        found.append((number, time or None, np.array(pair).tobytes()))
    return found


@pytest.mark.parametrize("name", FORMS)
def test_every_kind_of_file_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    stream = open_stream(written(tmp_path, name), "wind", ["load"], "time")
    assert isinstance(stream, Stream)
    assert stream.columns == ("wind", "load")
    assert bits(list(stream)) == expected()


def test_standard_input_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table())))
    assert bits(list(open_stream("-", "wind", ["load"], "time"))) == expected()
    assert not sys.stdin.closed


def test_a_row_leaves_a_pipe_before_the_next_line_is_written() -> None:
    program = (
        "from tidegate.streams import open_stream\n"
        "for row in open_stream('-', 'a'): print(row.number, *row.values, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin and child.stdout
        print("a", file=child.stdin, flush=True)
        for number in (1, 2, 3):
            print(number * 1.5, file=child.stdin, flush=True)
            assert child.stdout.readline() == f"{number} {number * 1.5}\n"
        child.stdin.close()
        assert child.stdout.readline() == ""


def test_what_is_no_utf_8_spoils_its_cell_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("place,load\nZürich,1\nBern,2\n".encode("latin-1") + b"Genf,\xff\n")
    rows = iter(open_stream(str(path), "load"))
    assert [next(rows).values[0] for _ in range(2)] == [1, 2]
    with pytest.raises(DataError, match="row 3, column 'load'"):
        next(rows)


def test_ends_of_lines_within_quotes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'time,load\r\n"two\r\nlines",1\r\n')
    assert [row.time for row in open_stream(str(path), "load", time="time")] == ["two\r\nlines"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.parquet"])
def test_a_stream_left_early_closes_its_file(name: str, tmp_path: Path) -> None:
    # A file left open would raise: warnings are errors here.
    stream = open_stream(written(tmp_path, name), "load")
    assert next(iter(stream)).number == 1


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.parquet"])
def test_a_cut_file_is_no_shorter_stream(name: str, tmp_path: Path) -> None:
    path = Path(written(tmp_path, name))
    whole = path.read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError) as caught:
            list(open_stream(str(path), "load"))
        assert caught.value.owner.startswith(str(path))
        if size == len(whole) - 9 and name != "a.parquet":
            assert "after row" in caught.value.owner


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.parquet"])
def test_what_is_no_archive_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"time,load\n1,2\n" * 100)
    with pytest.raises(DataError):
        list(open_stream(str(tmp_path / name), "load"))


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz", "a.csv.bz2", "a.parquet.gz"])
def test_an_unknown_kind_of_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match=r"\.parquet"):
        open_stream(str(tmp_path / name), "load")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for source in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UsageError, match="a file that can be read"):
            open_stream(str(source), "load")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_an_unknown_column_is_refused_with_the_nearest(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'load'"):
        open_stream(written(tmp_path, name), "laod")
    with pytest.raises(UsageError, match="Did you mean 'time'"):
        open_stream(written(tmp_path, name), "load", time="tme")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet"])
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    rows = 100_000
    if name == "a.parquet":
        path.write_bytes(parquet_of({"load": list(range(rows))}))
    else:
        path.write_bytes(gzip.compress(b"load\n" + b"12345\n" * rows))
    stream = open_stream(str(path), "load")
    iterator = iter(stream)
    next(iterator)
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    assert sum(1 for _ in iterator) == rows - 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000
    assert pa.total_allocated_bytes() - before < 500_000


def test_nothing_but_parquet_and_zstd_needs_pyarrow(tmp_path: Path) -> None:
    program = (
        "import sys; from tidegate.streams import open_stream; "
        "next(iter(open_stream(sys.argv[1], 'load'))); print('pyarrow' in sys.modules)"
    )
    for name, needed in (("a.csv.gz", "False"), ("a.parquet", "True")):
        done = subprocess.run(
            [sys.executable, "-c", program, written(tmp_path, name)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == needed


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_key_is_text_whatever_its_type_and_a_row_without_one_is_bad(
    tmp_path: Path, kind: str
) -> None:
    path, skipped = tmp_path / f"a.{kind}", SkipBadRows()
    if kind == "csv":
        path.write_text("store,load\n7,1\n ,2\n8 ,3\n")
    else:
        pq.write_table(pa.table({"store": [7, None, 8], "load": [1.0, 2.0, 3.0]}), path)
    rows = list(open_stream(str(path), "load", key="store", bad_rows=skipped))
    assert [(row.key, row.values[0]) for row in rows] == [("7", 1.0), ("8", 3.0)]
    assert "row 2, column 'store': expected the name of a stream" in str(skipped.named[0])
    assert [row.key for row in open_stream(str(path), "load")] == [None] * 3
