"""Sources that are cut, vanish or break while they are read: an error, never a shorter stream."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidegate import DataError, TidegateError
from tidegate.streams import Row, SkipBadRows, open_stream

ROWS = 20_000


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("load\n" + "".join(f"{number}\n" for number in range(ROWS)))
    return path


def after(count: int, rows: Iterator[Row]) -> list[float]:
    return [float(row.values[0]) for row, _ in zip(rows, range(count), strict=False)]


@pytest.mark.parametrize("left", [0, 100, 60_000])
def test_a_file_cut_while_it_is_read_is_no_shorter_stream(left: int, table: Path) -> None:
    size, skipped = table.stat().st_size, SkipBadRows()
    rows = iter(open_stream(str(table), "load", bad_rows=skipped))
    assert after(3, rows) == [0, 1, 2]
    os.truncate(table, left)
    with pytest.raises(DataError, match=f"after row .* had {size:,} bytes and ends after"):
        list(rows)
    assert skipped.count == 0


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(table: Path) -> None:
    rows = iter(open_stream(str(table), "load"))
    assert after(3, rows) == [0, 1, 2]
    with open(table, "a") as file:
        file.write("7\n")
    assert [row.values[0] for row in rows][-1] == 7


def test_a_file_removed_while_it_is_read_is_read_to_its_end(table: Path) -> None:
    rows = iter(open_stream(str(table), "load"))
    assert after(3, rows) == [0, 1, 2]
    table.unlink()
    assert len(list(rows)) == ROWS - 4


def test_a_disk_that_fails_is_told_with_the_row(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(io.FileIO):
        def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
            if self.tell() > 50_000:
                raise OSError(5, "Input/output error")
            return super().readinto(buffer)

    monkeypatch.setattr("tidegate.streams.files._plain", lambda s: io.BufferedReader(Failing(s)))
    with pytest.raises(DataError, match=r"after row \d+: .*Input/output error"):
        list(open_stream(str(table), "load"))


def test_parquet_cut_while_it_is_read_is_no_shorter_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"load": np.random.default_rng(1).random(500_000)}), path)
    rows = iter(open_stream(str(path), "load"))
    assert len(after(3, rows)) == 3
    os.truncate(path, 1_000_000)
    with pytest.raises(DataError, match="a sound Parquet file"):
        list(rows)


def test_flipped_bits_in_parquet_never_end_in_another_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"2015-{number}" for number in range(200)]
    columns = {"t": texts, "a": np.arange(200) / 7, "b": [str(number) for number in range(200)]}
    pq.write_table(pa.table(columns), path, row_group_size=70, write_page_checksum=True)
    whole, rng = path.read_bytes(), np.random.default_rng(4)
    expected = [(row.time, row.values.tobytes()) for row in open_stream(str(path), "a", ["b"], "t")]
    refused = 0
    for place in rng.integers(0, 8 * len(whole), 500).tolist():
        altered = bytearray(whole)
        altered[place // 8] ^= 1 << place % 8
        path.write_bytes(bytes(altered))
        try:
            rows = list(open_stream(str(path), "a", ["b"], "t", bad_rows=SkipBadRows()))
        except TidegateError:
            refused += 1
            continue
        refused += [(row.time, row.values.tobytes()) for row in rows] == expected
    # Sums cover the pages; what a footer says of them has none.
    assert refused > 490
