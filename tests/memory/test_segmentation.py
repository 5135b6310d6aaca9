"""The hard-reset posterior against every way to cut a short stream."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import memory
from tidegate._core.errors import UsageError


def by_hand(table: np.ndarray, hazard: float, cost: float, shortest: int, longest: int):
    """(gamma, log Z) from all 2^(n-1) cuts."""
    steps = len(table)
    total, erased = 0.0, np.zeros(steps)
    for marks in product([0, 1], repeat=steps - 1):
        starts = [0, *(1 + np.flatnonzero(marks))]
        weight = 1.0
        for first, stop in zip(starts, [*starts[1:], steps], strict=True):
            n, last = stop - first, stop == steps
            if n > longest or (n < shortest and not last):
                weight = 0.0
            weight *= np.exp(table[first, stop - 1]) * (1 - hazard) ** (n - 1)
            weight *= 1.0 if last else hazard * np.exp(-cost)
        total += weight
        erased[starts] += weight
    return erased / total, np.log(total)


@given(
    st.integers(0, 10_000), st.integers(1, 7), st.floats(0.01, 0.9), st.floats(-1, 2),
    st.integers(1, 3), st.integers(3, 8),
)  # fmt: skip
def test_posterior_and_evidence_are_those_of_all_cuts(
    seed: int, steps: int, hazard: float, cost: float, shortest: int, longest: int
) -> None:
    table = np.random.default_rng(seed).normal(size=(steps, steps)) * 2
    found = memory.hard_resets(
        lambda first, stop: table[first, first:stop], steps, hazard, cost, shortest, longest
    )
    erased, evidence = by_hand(table, hazard, cost, shortest, longest)
    np.testing.assert_allclose(found.erased, erased, rtol=1e-9, atol=1e-12)
    assert found.log_evidence == pytest.approx(evidence)


def test_a_switching_mean_is_cut_where_it_switches() -> None:
    rng = np.random.default_rng(3)
    borders = [0, 60, 95, 180]
    level = np.repeat([0.0, 3.0, -1.0, 2.0], np.diff([*borders, 240]))
    x = level + 0.5 * rng.normal(size=240)

    def log_prob(first: int, stop: int) -> np.ndarray:
        """Gaussian with the mean of the segment so far (a leaky memory that was erased)."""
        piece = x[first:stop]
        mean = np.concatenate([[0.0], np.cumsum(piece)[:-1]]) / np.arange(1, len(piece) + 1)
        variance = 0.25 + 4.0 / (1 + 16.0 * np.arange(len(piece)))
        return np.cumsum(-0.5 * (piece - mean) ** 2 / variance - 0.5 * np.log(variance))

    found = memory.hard_resets(log_prob, 240, hazard=0.02, longest=150)
    assert np.flatnonzero(found.erased > 0.5).tolist() == borders
    assert found.erased[0] == pytest.approx(1.0)


def test_options_out_of_range_are_refused() -> None:
    def flat(first: int, stop: int) -> np.ndarray:
        return np.zeros(stop - first)

    for wrong in ({"hazard": 0.0}, {"hazard": 1.0}, {"hazard": 0.1, "shortest": 4, "longest": 3}):
        with pytest.raises(UsageError):
            memory.hard_resets(flat, 5, **wrong)
    with pytest.raises(UsageError, match="5 log-probabilities"):
        memory.hard_resets(lambda first, stop: np.zeros(3), 5, 0.1)
    with pytest.raises(UsageError, match="possible cut"):
        memory.hard_resets(lambda first, stop: np.full(stop - first, -np.inf), 5, 0.1)
