"""Can any bytes crash, hang or mislead what reads files? A coverage-guided search for them.

    python benchmarks/fuzz.py --target csv --inputs 100000

Targets: ``csv`` against Python's csv module, ``records`` against json, ``checkpoint`` (whatever is
not refused must be what was saved). Needs atheris (``pip install tidegate[dev]`` brings it where
it exists). An input that fails is written to ``--artifacts`` and the exit code is not 0.
"""

from __future__ import annotations

import argparse
import atexit
import csv
import inspect
import io
import json
import multiprocessing
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from safetensors.numpy import save as serialise

from tidegate import CheckpointError, DataError, TidegateError
from tidegate._core.record_reader import read_records
from tidegate._core.records import Forecast, Point, Record, with_schema
from tidegate.learn import checkpoint
from tidegate.streams import SkipBadRows, decimal_comma, decimal_point
from tidegate.streams.bad_rows import not_utf8
from tidegate.streams.files import _decoded
from tidegate.streams.text import TextStream

SEPARATORS = (",", ";", "\t", "|")
MEMORY = Path("/dev/shm")  # where it exists, files cost no disk


def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fuzz", dir=MEMORY if MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, folder)
    return folder


SCRATCH = _scratch()


def check_csv(data: bytes) -> None:
    """Rows before the first error of the csv module are the same, and no row is read otherwise.

    The first byte chooses separator, decimal mark, and whether the header is given or fuzzed too.
    """
    choice, body = (data[0], data[1:]) if data else (0, b"")
    separator = SEPARATORS[choice & 3]
    number = decimal_comma if choice & 4 else decimal_point
    header = b"" if choice & 8 else f"a{separator}b\n".encode()
    lines, again = (_decoded(io.BytesIO(header + body)) for _ in range(2))
    skipped = SkipBadRows()
    try:
        stream = TextStream("fuzz", lines, ["b"], "a", separator, number, skipped)
    except TidegateError:
        return
    found = {row.number: (row.time, float(row.values[0])) for row in stream}
    expected, known = _by_csv(again, separator, number)
    for place, row in expected.items():
        assert repr(found.get(place)) == repr(row), (place, found.get(place), row)
    assert not [place for place in found if place <= known and place not in expected]


def _by_csv(
    lines: Any, separator: str, number: Callable[[str], float]
) -> tuple[dict[int, tuple[str | None, float]], int]:
    """The good rows by number, as the csv module has them, and up to which row it goes."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    rows: dict[int, tuple[str | None, float]] = {}
    count = 0
    try:
        header = [name.strip() for name in next(filter(None, reader))]
        target, time = header.index("b"), header.index("a")
        for count, cells in enumerate(filter(None, reader), 1):
            if len(cells) != len(header) or not_utf8(cells[time]):
                continue
            try:
                rows[count] = (cells[time] or None, number(cells[target]))
            except ValueError:
                continue
    except csv.Error:
        pass
    return rows, count


def check_records(data: bytes) -> None:
    """A line that is read as a record is JSON, and says what the record says."""
    path = SCRATCH / "records.jsonl"
    path.write_bytes(data)
    lines = data.split(b"\n")
    try:
        for place, record in enumerate(read_records(str(path))):
            said = json.loads(lines[place], parse_int=float)
            said.pop("schema", None)
            assert _within(said, json.loads(record.to_json_line(), parse_int=float)), record
    except DataError:
        return
    assert not data or data.endswith(b"\n") or json.loads(lines[-1])


def _within(said: Any, read: Any) -> bool:
    """Whether all that was said was read; what was not said is at its default."""
    if isinstance(said, Mapping):
        return isinstance(read, Mapping) and all(
            name in read and _within(value, read[name]) if value is not None else not read.get(name)
            for name, value in said.items()
        )
    if isinstance(said, list):
        return len(said) == len(read) and all(map(_within, said, read))
    return bool(said == read)


def check_checkpoint(data: bytes) -> None:
    """What is loaded is what was saved; all else is refused.

    The first byte chooses between a whole file and a header whose digest is right.
    """
    path = SCRATCH / "state.safetensors"
    choice, body = (data[0], data[1:]) if data else (0, b"")
    if choice & 1:
        text = body.decode("utf-8", "replace")
        body = bytes(serialise({}, {"header": text, "digest": checkpoint._digest({}, text)}))
    path.write_bytes(body)
    try:
        found = checkpoint.load(path)
    except CheckpointError:
        return
    if choice & 1:
        assert found.header == json.loads(text) and found.header["format"] == checkpoint.FORMAT
    else:
        saved = checkpoint.load(seed_checkpoint())
        assert found.header == saved.header
        assert _bytes(found) == _bytes(saved)


def _bytes(found: checkpoint.Checkpoint) -> dict[str, tuple[str, bytes]]:
    return {name: (str(a.dtype), a.tobytes()) for name, a in found.arrays.items()}


def seed_checkpoint() -> Path:
    """A small checkpoint, the same at every call."""
    path = SCRATCH / "seed.safetensors"
    if not path.exists():
        arrays = {"w": np.arange(4, dtype=np.float32), "n": np.array([1, 2])}
        checkpoint.save(path, checkpoint.Checkpoint(arrays, {"step": 1}))
    return path


def seeds(target: str) -> list[bytes]:
    """Where the search begins."""
    if target == "csv":
        english = b'\0t,1.5\n"a ""b""",2\n"x" , 3\nn/a,\n'
        return [english, b'\x05z;1,5\r\n"\r\n";2\r\n', b"\x08a,b\n1,2\n"]
    if target == "records":
        path = (Point(step=2, time=None, prediction=1.0),)
        coming = Forecast(time="t", prediction=1.5, path=path)
        record = Record(step=1, time=None, prediction=None, actual=0.1, error=1e300, next=coming)
        record.intervals, record.experts, record.flags = {"0.9": (1.0, None)}, {"a": 0.5}, ("gap",)
        line = record.to_json_line()
        return [f"{with_schema(line)}\n{line}\n".encode()]
    return [b"\0" + seed_checkpoint().read_bytes(), b'\1{"format": 1, "step": [1.5, null]}']


INSTRUMENTED = (
    "tidegate.streams.text",
    "tidegate.streams.numbers",
    "tidegate._core.record_reader",
    "tidegate.learn.checkpoint",
    "json.decoder",
)
CHECKS: dict[str, Callable[[bytes], None]] = {
    "csv": check_csv,
    "records": check_records,
    "checkpoint": check_checkpoint,
}


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Functions and methods that the module itself defines."""
    for value in vars(module).values():
        members = vars(value).values() if inspect.isclass(value) else [value]
        for member in members:
            if inspect.isfunction(member) and member.__module__ == module.__name__:
                yield member


def search(target: str, inputs: int, artifacts: str) -> None:
    """Looks for inputs that reach new code, and ends the process."""
    import atheris  # type: ignore[import-not-found]

    corpus = SCRATCH / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds(target)):
        (corpus / str(number)).write_bytes(seed)
    for module in INSTRUMENTED:
        for function in functions(import_module(module)):
            atheris.instrument_func(function)
    arguments = [f"-runs={inputs}", "-max_len=2000", "-timeout=20", "-rss_limit_mb=2048"]
    arguments += [f"-artifact_prefix={artifacts}/", "-seed=1", str(corpus)]
    atheris.Setup([sys.argv[0], *arguments], CHECKS[target])
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=CHECKS, required=True)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--artifacts", default=".", help="folder for an input that fails")
    given = parser.parse_args()
    # In a process of its own, for the search ends without a word to Python, which clears up here.
    process = multiprocessing.get_context("fork").Process(target=search, kwargs=vars(given))
    process.start()
    process.join()
    sys.exit(process.exitcode)


if __name__ == "__main__":
    main()
