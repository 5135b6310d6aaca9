"""A file that grows while it is read: whole lines only, no busy waiting, no other file's rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tidegate import DataError, UsageError
from tidegate.streams import Row, SkipBadRows, Stream, decimal_comma, follow, follow_file
from tidegate.streams import files as files_module
from tidegate.streams.files import open_stream


class Script:
    """A pause that, instead of waiting, does what others do to the file meanwhile."""

    def __init__(self, *deeds: Callable[[], object]) -> None:
        self.deeds = list(deeds)
        self.waited: list[float] = []

    def __call__(self, seconds: float) -> bool:
        self.waited.append(seconds)
        if not self.deeds:
            return True
        self.deeds.pop(0)()
        return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_bytes(b"time,load\nt1,1\n")
    return tmp_path / "a.csv"


def adding(path: Path, data: bytes) -> Callable[[], object]:
    def add() -> None:
        with open(path, "ab") as file:
            file.write(data)

    return add


def rows(path: Path, *deeds: Callable[[], object]) -> Iterator[Row]:
    return iter(follow_file(str(path), "load", time="time", pause=Script(*deeds)))


def loads(found: Iterator[Row]) -> list[tuple[str | None, float]]:
    return [(row.time, float(row.values[0])) for row in found]


def test_rows_come_as_their_lines_do(path: Path) -> None:
    deeds = [adding(path, b"t2,2\nt3,3\n"), adding(path, b""), adding(path, b"t4,4\r\n")]
    assert loads(rows(path, *deeds)) == [("t1", 1), ("t2", 2), ("t3", 3), ("t4", 4)]


def test_half_a_line_is_awaited(path: Path) -> None:
    deeds = [adding(path, part) for part in (b"t2", b",", b"1", b"2", b"\nt3,3")]
    assert loads(rows(path, *deeds)) == [("t1", 1), ("t2", 12)]


def test_a_letter_of_two_bytes_may_be_torn(path: Path) -> None:
    deeds = [adding(path, part) for part in (b"\xc3", b"\xbc,2\n")]
    assert loads(rows(path, *deeds)) == [("t1", 1), ("ü", 2)]


def test_a_quoted_cell_may_span_lines_that_come_one_by_one(path: Path) -> None:
    deeds = [adding(path, b'"t\n'), adding(path, b'2",2\n')]
    assert loads(rows(path, *deeds)) == [("t1", 1), ("t\n2", 2)]


def test_the_header_is_awaited_and_its_mark_taken_off(path: Path) -> None:
    path.write_bytes(b"")
    script = Script(*[adding(path, part) for part in (b"\xef\xbb", b"\xbfload", b";x\n1,5;2\n")])
    stream = follow_file(
        str(path), "load", ["x"], pause=script, separator=";", number=decimal_comma
    )
    assert [row.values.tolist() for row in stream] == [[1.5, 2]]


def test_a_header_that_never_comes_is_told(path: Path) -> None:
    path.write_bytes(b"time,lo")
    with pytest.raises(DataError, match="a header line, got nothing"):
        follow_file(str(path), "load", pause=Script())


def test_bad_rows_are_passed_over(path: Path) -> None:
    skipped = SkipBadRows()
    stream = follow_file(
        str(path), "load", pause=Script(adding(path, b"t,x\nt,3\n")), bad_rows=skipped
    )
    assert [row.values[0] for row in stream] == [1, 3]
    assert skipped.count == 1


def test_it_waits_once_for_every_look_at_nothing_new(path: Path) -> None:
    script = Script(*[adding(path, b"")] * 5)
    stream = follow_file(str(path), "load", pause=script)
    assert len(list(stream)) == 1
    assert len(script.waited) == 6 and min(script.waited) >= 0.05


def test_by_default_it_sleeps_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 50:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    stream = iter(follow_file(str(path), "load"))
    assert next(stream).number == 1
    with pytest.raises(KeyboardInterrupt):
        next(stream)


def test_an_event_ends_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "INTERVAL", 0.01)
    end, found = threading.Event(), []
    stream = follow_file(str(path), "load", pause=end.wait)
    reader = threading.Thread(target=lambda: found.extend(stream))
    reader.start()
    adding(path, b"t2,2\n")()
    while len(found) < 2:
        time.sleep(0.01)
    end.set()
    reader.join(10)
    assert not reader.is_alive()


def broken(path: Path, *deeds: Callable[[], object]) -> tuple[list[float], DataError]:
    """The rows before, and the error that ends them."""
    found: list[float] = []
    with pytest.raises(DataError) as caught:
        for row in rows(path, *deeds):
            found.append(float(row.values[0]))
    assert caught.value.owner == str(path)
    return found, caught.value


def test_a_file_that_was_cut_is_told(path: Path) -> None:
    found, error = broken(path, lambda: path.write_bytes(b""))
    assert (found, error.got) == ([1], "a shorter file")


def test_a_file_that_was_cut_and_has_grown_again_is_told(path: Path) -> None:
    anew = b"time,load\nt9,9\nt10,10\nt11,11\n"
    found, error = broken(path, lambda: path.write_bytes(anew))
    assert found == [1] and "other lines" in error.got


def test_a_file_that_was_replaced_is_told_after_its_last_rows(path: Path) -> None:
    def rotate() -> None:
        adding(path, b"t2,2\n")()
        path.rename(path.with_suffix(".1"))
        path.write_bytes(b"time,load\nt9,9\n")

    found, error = broken(path, rotate)
    assert (found, error.got) == ([1, 2], "another file")


def test_a_file_that_has_gone_is_told_after_its_last_rows(path: Path) -> None:
    def remove() -> None:
        adding(path, b"t2,2\n")()
        path.unlink()

    found, error = broken(path, remove)
    assert (found, error.got) == ([1, 2], "no file")


def test_a_line_without_end_does_not_fill_the_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "LONGEST", 100)
    _, error = broken(path, *[adding(path, b"x" * 30)] * 9)
    assert "fewer than 100 letters" in error.expected


@pytest.mark.parametrize("name", ["-", "a.csv.gz", "a.parquet", "a.txt"])
def test_only_plain_text_grows(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Only plain text grows by lines"):
        follow_file(str(tmp_path / name), "load")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a file that can be read"):
        follow_file(str(tmp_path / "none.csv"), "load")


def test_a_finished_file_gives_the_rows_of_open_stream(path: Path) -> None:
    adding(path, b't2,\n\xef\xbb\xbft3,nan\n\n"t,4", 4 \n')()
    followed: Stream = follow_file(str(path), "load", time="time", pause=Script())
    opened = open_stream(str(path), "load", time="time")
    assert [(r.number, r.time, r.values.tobytes()) for r in followed] == [
        (r.number, r.time, r.values.tobytes()) for r in opened
    ]
