"""Streams that share weights: one teaches another, and nothing else passes between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidegate._core.errors import CheckpointError, UsageError
from tidegate.forecast import Forecaster, KeyedForecasters, SharedForecasters


def _make() -> Forecaster:
    return Forecaster(units=0)


def _streams(count: int, steps: int) -> np.ndarray:
    """Autoregressions of one kind, each with a level and a scale of its own (stream, step)."""
    rng = np.random.default_rng(11)
    scales, values = 10.0 ** rng.uniform(-3, 6, count), np.zeros((count, steps + 2))
    for step in range(2, steps + 2):
        noise = rng.normal(size=count)
        values[:, step] = 1.6 * values[:, step - 1] - 0.9 * values[:, step - 2] + noise
    return scales[:, None] * (values[:, 2:] + rng.normal(size=(count, 1)))


def _errors(streams: KeyedForecasters, values: np.ndarray) -> np.ndarray:
    """Over each stream's usual change (stream, step), one stream after the other."""
    errors = np.zeros_like(values)
    for n, stream in enumerate(values):
        for step, value in enumerate(stream.tolist()):
            errors[n, step] = streams.predict(str(n)).value - value
            streams.learn(str(n), value)
    return np.abs(errors) / np.abs(np.diff(values)).mean(axis=1, keepdims=True)


def test_a_new_stream_is_predicted_by_what_others_taught() -> None:
    values = _streams(40, 40)
    own, shared = (
        _errors(KeyedForecasters(_make), values),
        _errors(SharedForecasters(_make), values),
    )
    assert shared[20:, 5:].mean() < 0.8 * own[20:, 5:].mean()


def test_one_stream_alone_is_predicted_as_ever() -> None:
    values = _streams(1, 300)
    np.testing.assert_array_equal(
        _errors(KeyedForecasters(_make), values), _errors(SharedForecasters(_make), values)
    )


def test_asking_changes_nothing() -> None:
    values = _streams(3, 150)
    quiet, asked = SharedForecasters(_make), SharedForecasters(_make)
    for row in values.T:
        for n, value in enumerate(row.tolist()):
            asked.predict(str(n))
            asked.predict(str((n + 1) % 3))
            for streams in (quiet, asked):
                streams.learn(str(n), value)
    assert [quiet.predict(key) for key in "012"] == [asked.predict(key) for key in "012"]


@pytest.mark.parametrize("cut", [1, 60, 140])
def test_a_saved_file_goes_on_to_the_bit(tmp_path: Path, cut: int) -> None:
    values = _streams(3, 200) + 50 * (np.arange(200) % 7 == 0)
    whole, first, second = (SharedForecasters(_make) for _ in range(3))
    for row in values.T[:cut]:
        for n, value in enumerate(row.tolist()):
            whole.learn(str(n), value)
            first.learn(str(n), value)
    first.save(tmp_path / "streams")
    second.load(tmp_path / "streams")
    for row in values.T[cut:]:
        for n, value in enumerate(row.tolist()):
            assert whole.predict(str(n)) == second.predict(str(n))
            whole.learn(str(n), value)
            second.learn(str(n), value)


def test_streams_of_other_forecasters_are_refused(tmp_path: Path) -> None:
    streams = KeyedForecasters(_make)
    streams.learn("a", 1.0)
    streams.save(tmp_path / "streams")
    with pytest.raises(CheckpointError):
        SharedForecasters(_make).load(tmp_path / "streams")


def test_networks_are_refused() -> None:
    with pytest.raises(UsageError, match="units=0"):
        SharedForecasters(lambda: Forecaster(units=4))
