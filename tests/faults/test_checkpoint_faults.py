"""Disks that are full, folders that are closed, writers that are killed: one whole file remains."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate._core.errors import CheckpointError
from tidegate.learn.checkpoint import Checkpoint, load, save


def numbered(number: int, size: int = 2_000) -> Checkpoint:
    return Checkpoint({"a": np.full(size, float(number))}, {"number": number})


def number_in(path: Path) -> int:
    """The number of a whole checkpoint; half of one would differ within itself."""
    found = load(path)
    number = int(found.header["number"])
    assert (found.arrays["a"] == number).all()
    return number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(tmp_path / "state.safetensors", numbered(1))
    return tmp_path / "state.safetensors"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What the system does on a full disk, with another number: EFBIG."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1, 4_096, 16_000])
def test_no_room_leaves_the_last_one(size: int, path: Path) -> None:
    with files_of_at_most(size), pytest.raises(CheckpointError, match="File too large"):
        save(path, numbered(2))
    assert number_in(path) == 1
    assert os.listdir(path.parent) == [path.name]
    save(path, numbered(3))
    assert number_in(path) == 3


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_call_that_fails_leaves_the_last_one(
    call: str, code: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(code))
        with pytest.raises(CheckpointError) as caught:
            save(path, numbered(2))
    assert caught.value.got == os.strerror(code)
    assert "unchanged" in caught.value.help
    assert number_in(path) == 1
    assert os.listdir(path.parent) == [path.name]


def test_a_read_only_folder_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Injected, because permissions do not bind every user; neither can what lies beside be removed.
    monkeypatch.setattr("builtins.open", failing(errno.EROFS))
    monkeypatch.setattr(Path, "unlink", failing(errno.EROFS))
    with pytest.raises(CheckpointError, match="Read-only file system"):
        save(path, numbered(2))
    monkeypatch.undo()
    assert number_in(path) == 1


def test_a_folder_that_has_gone_is_told(path: Path) -> None:
    with pytest.raises(CheckpointError, match="No such file or directory"):
        save(path.parent / "gone" / "state", numbered(2))


def test_a_folder_that_cannot_be_synced_does_not_matter(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", failing(errno.EINVAL))
    save(path, numbered(2))
    monkeypatch.undo()
    assert number_in(path) == 2


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_an_interrupt_in_the_middle_leaves_a_whole_one(
    call: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(path, numbered(2))
    monkeypatch.undo()
    assert number_in(path) == 1
    assert os.listdir(path.parent) == [path.name]


def test_writers_at_once_and_a_reader_see_whole_files_only(path: Path) -> None:
    def write(first: int) -> None:
        for number in range(first, first + 20):
            save(path, numbered(number))

    threads = [threading.Thread(target=write, args=[first]) for first in (100, 200, 300)]
    for thread in threads:
        thread.start()
    seen = {number_in(path) for _ in range(200)}
    for thread in threads:
        thread.join()
    assert seen <= {1, *range(100, 120), *range(200, 220), *range(300, 320)}
    assert number_in(path) in (119, 219, 319)
    assert os.listdir(path.parent) == [path.name]


WRITER = """
import sys
from pathlib import Path
import numpy as np
from tidegate.learn.checkpoint import Checkpoint, save
number = 1
while True:
    number += 1
    arrays = {"a": np.full(200_000, float(number))}
    save(Path(sys.argv[1]), Checkpoint(arrays, {"number": number}))
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_a_whole_file_and_no_pile(path: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout
            child.stdout.readline()
            time.sleep(float(rng.uniform(0, 0.02)))
            child.send_signal(signal.SIGKILL)
            told = [int(line) for line in child.stdout if line.endswith("\n")]
        # What was told as saved is there; the one after it may be.
        assert number_in(path) - max(told, default=2) in (0, 1)
    for beside in path.parent.glob(".*.part"):
        os.utime(beside, (0, 0))
    save(path, numbered(9))
    assert os.listdir(path.parent) == [path.name]


def test_only_old_leftovers_of_this_file_are_removed(path: Path) -> None:
    fresh, old = (path.with_name(f".{path.name}.{name}.part") for name in ("new", "old"))
    foreign = path.with_name(".other.safetensors.old.part")
    for file in (fresh, old, foreign):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    save(path, numbered(2))
    assert (fresh.exists(), old.exists(), foreign.exists()) == (True, False, True)


def test_a_pickle_is_refused_and_not_run(path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(path.with_name("boom")),)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Bomb(), protocol))
        with pytest.raises(CheckpointError):
            load(path)
    with open(path, "wb") as file:
        np.save(file, np.array([Bomb()]), allow_pickle=True)
    with pytest.raises(CheckpointError):
        load(path)
    assert os.listdir(path.parent) == [path.name]
