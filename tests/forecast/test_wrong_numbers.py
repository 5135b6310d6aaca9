"""Numbers that are wrong: the step is cut and flagged, and soon the error is what it was."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate import DivergedError
from tidegate.forecast import BareNetwork

Floats = NDArray[np.float64]
Wrong = Callable[[Floats, np.random.Generator], Floats]

START, SOON, END = 600, 800, 1000
NOW = np.arange(END)
AFTER = START <= NOW


def spikes(share: float) -> Wrong:
    def wrong(x: Floats, rng: np.random.Generator) -> Floats:
        return np.where(rng.random(END) < share, 1e6 * rng.normal(size=END), x)

    return wrong


WRONG: dict[str, Wrong] = {
    "spike": lambda x, rng: np.where(NOW == START, 1e6 * x.std(), x),
    "largest spike": lambda x, rng: np.where(NOW == START, -1.7e308, x),
    "millionfold": lambda x, rng: np.where(AFTER, 1e6 * x, x),
    "millionth": lambda x, rng: np.where(AFTER, 1e-6 * x, x),
    "billionth": lambda x, rng: np.where(AFTER, 1e-9 * x, x),
    "hundredfold": lambda x, rng: np.where(AFTER, 1e2 * x, x),
    "thirtieth": lambda x, rng: np.where(AFTER, x / 30, x),
    "offset": lambda x, rng: x + 1e9,
    "jump of the offset": lambda x, rng: np.where(AFTER, x + 1e9, x),
    "denormal": lambda x, rng: x * 1e-310,
    "soon denormal": lambda x, rng: np.where(AFTER, x * 1e-310, x),
    "constant, then a burst": lambda x, rng: np.where(AFTER, x, 7.0),
    "quiet, then a burst": lambda x, rng: np.where(AFTER, x, 7.0 + 1e-9 * x),
    "spikes in 1 %": spikes(0.01),
}


def series(rng: np.random.Generator) -> Floats:
    """A day of 24 rows in coloured noise: half of a change can be known before."""
    noise = rng.normal(size=END + 1)
    coloured = np.zeros(END)
    for t in range(1, END):
        coloured[t] = 0.95 * coloured[t - 1] + noise[t + 1] + 0.8 * noise[t]
    return coloured + 4 * np.sin(NOW * 2 * np.pi / 24)


def met(x: Floats, seed: int, network: BareNetwork) -> tuple[Floats, list[tuple[str, ...]]]:
    """|error| of every row's forecast (row,), and the flags of every row."""
    errors, flags = [], []
    for value in x:
        errors.append(abs(value - network.forecast()))
        flags.append(network.observe(np.array([value])))
    return np.array(errors), flags


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", WRONG)
def test_the_error_is_back_to_normal_within_200_steps(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = WRONG[name](series(rng), rng)
    network = BareNetwork(1, "lstm", 8, seed)
    network.know({"day ago": 24})
    errors, flags = met(x, seed, network)
    for array in vars(network.learner.state).values():
        assert np.isfinite(array).all()
    assert np.isfinite(errors[1:]).all()
    last = np.median(np.abs(np.diff(x[SOON:])))
    assert np.median(errors[SOON:]) < 1.05 * last, "no worse than saying the last value again"
    if "spike" in name or "fold" in name or "burst" in name and "quiet" in name:
        assert "clipped" in set().union(*flags[START:])


@pytest.mark.parametrize("seed", range(3))
def test_a_flag_marks_the_spike_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, flags = met(WRONG["spike"](series(rng), rng), seed, BareNetwork(1, "lstm", 4, seed))
    # The way up, and the way back.
    assert [step for step, found in enumerate(flags) if found] == [START, START + 1]


@pytest.mark.parametrize("seed", range(3))
def test_a_constant_is_soon_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.where(AFTER, 7.0, series(rng))
    errors, _ = met(x, seed, BareNetwork(1, "lstm", 8, seed))
    assert errors[SOON:].max() < 0.02 * np.abs(np.diff(x[:START])).mean()


@pytest.mark.parametrize("cell", ["lstm", "lstm1997", "gru", "janet", "slstm", "indrnn"])
def test_no_cell_is_broken_by_spikes(cell: str) -> None:
    rng = np.random.default_rng(1)
    x = spikes(0.05)(series(rng), rng)
    errors, _ = met(x, 1, network := BareNetwork(1, cell, 4, seed=1))
    assert np.isfinite(network.learner.state.weights).all()
    assert np.isfinite(errors[1:]).all()


def test_numbers_that_are_no_longer_finite_are_no_forecast() -> None:
    network = BareNetwork(1, "lstm", 4, seed=0)
    met(series(np.random.default_rng(0))[:50], 0, network)
    state = network.learner.state
    state.weights[:] = np.nan
    network.learner.state = state
    with pytest.raises(DivergedError, match="predictions that are finite"):
        network.observe(np.array([1.0]))
