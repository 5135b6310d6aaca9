"""The checks of benchmarks/fuzz.py on inputs that need no search: seeds, altered, cut and noise."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate._core import record_reader
from tidegate.learn import checkpoint
from tidegate.streams import text

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"
TARGETS = ("csv", "records", "checkpoint")


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    found = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def altered(seeds: list[bytes], count: int) -> Iterator[bytes]:
    """Pieces of the seeds cut out, doubled, mixed, and letters replaced by telling ones."""
    rng = np.random.default_rng(8)
    telling = b'",;\n\r\t \\{}[]:.0129eE-+nN\x00\xff\xef\xbb\xbf'
    for _ in range(count):
        found = bytearray(seeds[rng.integers(len(seeds))])
        for _ in range(rng.integers(1, 5)):
            start, stop = sorted(rng.integers(0, len(found) + 1, 2).tolist())
            piece = found[start:stop]
            what = rng.integers(4)
            if what == 0 and len(piece) < len(found) // 2:
                del found[start:stop]
            elif what == 1 and len(found) < 3_000:
                found[start:start] = piece
            elif found:
                place = int(rng.integers(len(found)))
                found[place : place + what - 1] = bytes([telling[rng.integers(len(telling))]])
        yield bytes(found)


@pytest.mark.parametrize("target", TARGETS)
def test_altered_seeds(target: str, fuzz: ModuleType) -> None:
    seeds = fuzz.seeds(target)
    for data in [*seeds, *altered(seeds, 5_000)]:
        fuzz.CHECKS[target](data)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=500)
@given(data=st.binary(max_size=120))
def test_noise(target: str, fuzz: ModuleType, data: bytes) -> None:
    fuzz.CHECKS[target](data)


def test_a_misread_number_is_seen(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "np", FakeNumPy)
    with pytest.raises(AssertionError):
        fuzz.check_csv(fuzz.seeds("csv")[0])


class FakeNumPy:
    """Arrays of other numbers."""

    @staticmethod
    def array(values: list[float]) -> object:
        return np.array(values) + 1


def test_a_row_read_from_two_is_seen(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'\0"t\n1",1\nt,2\n'
    fuzz.check_csv(data)
    whole = text.TextStream._lines
    monkeypatch.setattr(text.TextStream, "_lines", lambda self: (c for c in [*whole(self)][:-1]))
    with pytest.raises(AssertionError):
        fuzz.check_csv(data)


def test_a_misread_record_is_seen(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record_reader.RECORD_FIELDS, "error", lambda value: 0.0)
    with pytest.raises(AssertionError):
        fuzz.check_records(fuzz.seeds("records")[0])


def test_an_altered_checkpoint_that_is_loaded_is_seen(
    fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = fuzz.seeds("checkpoint")[0]
    fuzz.check_checkpoint(data[:-1] + b"\7")
    monkeypatch.setattr(checkpoint, "_digest", lambda arrays, header: json.loads(header) and DIGEST)
    DIGEST = checkpoint._metadata(data[1:])["digest"]
    with pytest.raises(AssertionError):
        fuzz.check_checkpoint(data[:-1] + b"\7")
