"""Every part of a run is put down and taken up again exact to the bit (troubles 41 and 42)."""

from __future__ import annotations

from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate import CheckpointError, UsageError
from tidegate._core.records import Record
from tidegate.forecast import (
    Ago,
    BareNetwork,
    CategoryForecaster,
    Clock,
    Forecaster,
    Persistence,
    Prequential,
    Scores,
)
from tidegate.forecast.bare import Season
from tidegate.forecast.parts import Arrays, Part
from tidegate.forecast.past import Past
from tidegate.forecast.spread import Level, Spread
from tidegate.learn.checkpoint import Checkpoint, load, save
from tidegate.streams import Row, SkipBadRows

VALUES = np.random.default_rng(0).normal(size=300).cumsum()
PARTS = {
    "past": (lambda: Past(7), Past.push),
    "level": (lambda: Level(50, 5.0), Level.update),
    "spread": (lambda: Spread(50, 5.0), Spread.update),
    "season": (lambda: Season(5), Season.observe),
    "persistence": (Persistence, Persistence.observe),
    "ago": (lambda: Ago(9), Ago.observe),
}


def same(one: Arrays, other: Arrays) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("cut", [0, 1, 63, 64, 150])
def test_a_part_goes_on_as_if_nothing_had_happened(name: str, cut: int) -> None:
    make, meet = PARTS[name]
    unbroken, first, second = make(), make(), make()
    for value in VALUES[:cut].tolist():
        meet(unbroken, value), meet(first, value)
    second.restore(first.state())
    same(second.state(), first.state())
    for value in VALUES[cut:].tolist():
        meet(unbroken, value), meet(second, value)
        same(second.state(), unbroken.state())


@pytest.mark.parametrize("name", PARTS)
def test_a_state_is_a_copy(name: str) -> None:
    make, meet = PARTS[name]
    part = make()
    meet(part, 1.0)
    state = part.state()
    kept = {key: array.copy() for key, array in state.items()}
    for value in (2.0, 5.0, -3.0):
        meet(part, value)
    same(state, kept)


def test_what_is_of_another_size_is_refused() -> None:
    with pytest.raises(UsageError, match="8 values"):
        Past(8).restore(Past(7).state())


def run(cell: str = "lstm", columns: int = 2) -> Prequential:
    return Prequential(lambda: BareNetwork(columns, cell, 3, seed=1), "demo", SkipBadRows())


def rows(count: int, seed: int = 0) -> list[Row]:
    """Hours with a day in them, missing values, a gap, a late row, a spike, a scale that jumps."""
    rng = np.random.default_rng(seed)
    found, hour = [], np.datetime64("2021-03-01T00:00:00", "s")
    for n in range(count):
        hour += np.timedelta64(3600 * (30 if n == 120 else -5 if n == 90 else 1), "s")
        values = 10 * np.sin(n * 2 * np.pi / 24) + rng.normal(size=2)
        values = values * (1e6 if n > 200 else 1)
        values[n % 2] = nan if n % 17 == 3 else 1e12 if n == 100 else values[n % 2]
        found.append(Row(n + 1, str(hour).replace("T", " "), values))
    return found


def lines(run: Prequential, rows: list[Row]) -> list[str]:
    found: list[Record | None] = [run.step(row) for row in rows]
    return [record.to_json_line() for record in found if record is not None]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 260), st.integers(0, 40))
def test_a_run_cut_twice_anywhere_says_what_an_unbroken_one_says(cut: int, more: int) -> None:
    stream = rows(280)
    unbroken, said = run(), []
    expected = lines(unbroken, stream)
    pieces = [stream[:cut], stream[cut : cut + more], stream[cut + more :]]
    state: Arrays = {}
    for piece in pieces:
        one = run()
        if state:
            one.restore(state)
        said += lines(one, piece)
        state = one.state()
    assert said == expected
    same(state, unbroken.state())
    assert one.summary() == unbroken.summary()


@pytest.mark.parametrize("cell", ["gru", "peephole", "slstm", "block2000", "rnn", "min_gru"])
def test_whatever_the_cell(cell: str, tmp_path: object) -> None:
    stream = rows(150)
    unbroken, first, second = run(cell), run(cell), run(cell)
    expected = lines(unbroken, stream)
    assert lines(first, stream[:70]) == expected[:70]
    second.restore(first.state())
    assert lines(second, stream[70:]) == expected[70:]


def test_a_state_goes_through_a_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("state") / "state.safetensors"
    first, second = run(), run()
    lines(first, rows(130))
    save(path, Checkpoint(first.state(), {}))
    second.restore(load(path).arrays)
    same(second.state(), first.state())
    clocks = [one.tracks.of(None).clock for one in (first, second)]
    assert clocks[1].next_time() == clocks[0].next_time() != None  # noqa: E711


def test_a_clock_before_its_first_time_and_its_step() -> None:
    for texts in ([], [None], ["2021-01-01"], ["2021-01-01", None], ["7", "9.5"]):
        first, second = Clock(), Clock()
        for text in texts:
            first.observe(text)
        second.restore(first.state())
        assert second.step == first.step
        for text in ("2021-01-05", None, "2021-01-07", "2021-01-01"):
            assert second.observe(text) == first.observe(text)
            assert second.next_time() == first.next_time()


def test_scores_keep_every_method_by_its_name() -> None:
    first, second = Scores(warmup=1), Scores(warmup=1)
    for value in VALUES[:20].tolist():
        first.add(value, {"tidegate": value + 1, "week ago": value - 2})
    second.restore(first.state())
    assert (second.mean("week ago"), second.rolling("tidegate"), second.steps) == (2.0, 1.0, 19)


def test_every_part_of_the_network_is_kept() -> None:
    """Each array that changes while it learns is one whose loss would be seen."""
    network = run().model()
    assert isinstance(network, BareNetwork) and isinstance(network, Part)
    before = network.state()
    stream = run()
    lines(stream, rows(100))
    after = stream.model().state()
    still = [name for name in before if np.array_equal(before[name], after[name])]
    assert set(still) <= {"learner.average", "watch.units", "learner.counted"}


def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path) -> None:
    CategoryForecaster(units=2).save(tmp_path / "categories")
    with pytest.raises(CheckpointError, match="forecaster.*categories"):
        Forecaster.load(tmp_path / "categories")
