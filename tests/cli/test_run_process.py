"""``tidegate run`` as a process: pipes, signals, terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from time import sleep

import pytest

from cli.conftest import COMMAND, ended, started

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

LIVE = ["run", "-", "--target", "load"]


def fed(process: subprocess.Popen[bytes], text: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def answered(process: subprocess.Popen[bytes]) -> dict[str, object]:
    assert process.stdout is not None
    record: dict[str, object] = json.loads(process.stdout.readline())
    return record


def test_the_forecast_of_a_row_is_out_before_the_row_comes() -> None:
    process = started(*LIVE)
    fed(process, b"load\n")
    for step, value in enumerate((3.0, 4.0, 6.0), 1):
        fed(process, b"%f\n" % value)
        record = answered(process)
        assert (record["step"], record["actual"]) == (step, value)
    done = ended(process)
    assert (done.code, done.out) == (0, b"")
    assert "3 rows predicted" in done.err


def test_nobody_reading_any_more_is_no_error(hourly: Path, tmp_path: Path) -> None:
    with started("run", hourly, "--target", "load", "--save", tmp_path / "run") as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith(b'{"schema": 1')
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 0)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ended"] == "closed pipe"


def test_what_is_read_whole_appears_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    out.write_text("old")
    process = started(*LIVE, "--out", out)
    fed(process, b"load\n1\n")
    while not (tmp_path / "records.parquet.part").exists():
        assert process.poll() is None, "it ended before it began"
        sleep(0.05)
    assert out.read_text() == "old"
    assert ended(process).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["records.parquet"]
    assert out.read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_wait_for_a_row(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    process = started(*LIVE, "--save", tmp_path)
    fed(process, b"load\n1\n2\n")
    answered(process), answered(process)
    process.send_signal(sent)
    assert process.wait(60) == code, "though the input is open"
    done = ended(process)
    assert done.out == b""
    assert f"stopped by {sent.name}" in done.err and "2 rows predicted" in done.err
    assert "Traceback" not in done.err
    assert json.loads((tmp_path / "summary.json").read_text())["ended"] == sent.name
    assert len((tmp_path / "records.jsonl").read_bytes().splitlines()) == 2


def test_a_signal_before_the_header_is_obeyed() -> None:
    process = started(*LIVE, stderr=subprocess.STDOUT)
    fed(process, b"lo")
    # The handler is there once the command says so: a row is awaited or the default ends it.
    process.send_signal(signal.SIGTERM)
    assert ended(process).code in (143, -signal.SIGTERM)


def test_the_second_signal_ends_what_the_first_cannot(tmp_path: Path) -> None:
    """The reader has stopped reading: the step never ends, as its record cannot be written."""
    process = started("run", "--units", 1, "--save", tmp_path)
    wait_until_stuck(tmp_path / "records.jsonl")
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert ended(process).err == ""


def wait_until_stuck(records: Path) -> None:
    """Until the file has grown and grows no more."""
    before, now = -1, 0
    while now == 0 or now != before:
        sleep(0.3)
        before, now = now, records.stat().st_size if records.exists() else 0


def in_terminal(arguments: list[str], **pipes: int) -> tuple[int, str]:
    """Exit code of a command whose other ends are a terminal, and all the terminal showed."""
    ours, theirs = pty.openpty()
    files = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs} | pipes
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([*COMMAND, *arguments], env=environment, **files)  # type: ignore[call-overload]
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(60), shown.decode()


def test_a_terminal_sees_how_it_goes(hourly: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "records.jsonl")
    code, shown = in_terminal(["run", str(hourly), "--target", "load", "--out", out])
    assert code == 0
    live, _, after = shown.partition("every row predicted")
    assert "400 rows  " in live and "(persistence " in live and ", skill " in live
    assert "%" not in live
    assert "persistence (the last value again)" in after


def test_a_terminal_sees_records_or_progress_but_not_both(hourly: Path) -> None:
    _, shown = in_terminal(["run", str(hourly), "--target", "load"])
    assert shown.count('"step": ') == 400
    assert "rows/s" not in shown and "\x1b[?25l" not in shown


def test_a_saved_run_leaves_the_terminal_to_its_progress(hourly: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    _, shown = in_terminal(["run", str(hourly), "--target", "load", "--save", folder])
    assert '"step": ' not in shown and "\x1b[?25l" in shown
    assert len(Path(folder, "records.jsonl").read_bytes().splitlines()) == 400


def test_parquet_is_not_for_eyes(hourly: Path) -> None:
    code, shown = in_terminal(["run", str(hourly), "--target", "load", "--format", "parquet"])
    assert code == 2
    assert "expected a file or a pipe, got a terminal" in shown


def test_no_progress_where_nobody_watches(hourly: Path) -> None:
    done = ended(started("run", hourly, "--target", "load"))
    assert "\x1b" not in done.err and "rows/s" not in done.err


def test_a_reader_that_left_is_no_end_of_the_run(hourly: Path, tmp_path: Path) -> None:
    asked = ["run", hourly, "--target", "load", "--units", 2]
    whole = ended(started(*asked, "--save", tmp_path / "whole"))
    with started(*asked, "--save", tmp_path / "run") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
    done = ended(started("run", "--resume", tmp_path / "run"))
    assert done.code == 0
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == whole.out


def test_a_file_is_followed_until_a_signal_and_from_there_on(tmp_path: Path) -> None:
    file, folder = tmp_path / "growing.csv", tmp_path / "run"
    file.write_bytes(b"load\n1\n2\n")
    asked = ["run", file, "--target", "load", "--follow", "--save", folder, "--out", "-"]
    process = started(*asked)
    assert [answered(process)["actual"] for _ in range(2)] == [1.0, 2.0]
    with open(file, "ab") as more:
        more.write(b"4\n")
    assert answered(process)["actual"] == 4.0
    process.send_signal(signal.SIGTERM)
    assert ended(process).code == 143
    with open(file, "ab") as more:
        more.write(b"8\n")
    process = started("run", "--resume", folder)
    assert (record := answered(process))["step"] == 4 and record["actual"] == 8.0
    process.send_signal(signal.SIGTERM)
    assert ended(process).code == 143
