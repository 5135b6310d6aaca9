"""One lead: what it issued then counts, and the first rows of a stream weigh no more."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.forecast.lead import CANDIDATES, DIRECT, ITERATED, SAID, SCALE, SIZE, WIDTHS, Lead
from tidegate.forecast.model.mixing import (
    Mixture,
    learn_late_mixture,
    mixture_in,
)

DELAY = 12


def _follow(
    lead: Lead, x: np.ndarray, said: np.ndarray, came: np.ndarray, delay: int
) -> list[float]:
    """Ask at every row, and learn what came of it ``delay`` rows later; errors as issued."""
    waiting, errors = [], []
    for t in range(len(came)):
        if t >= delay:
            then = waiting[t - delay]
            errors.append(lead.learn(*then, came[t - delay]))
        candidates = np.zeros(CANDIDATES)
        candidates[ITERATED] = said[t]
        waiting.append((x[t], candidates, lead.ask(x[t], candidates)))
    return errors


def test_an_error_is_that_of_what_was_issued() -> None:
    rng = np.random.default_rng(0)
    lead, x = Lead(2, (0.9,)), rng.normal(size=(300, 2))
    came = x @ np.array([1.0, -2.0])
    waiting, errors = [], []
    for t in range(300):
        if t >= DELAY:
            seen, candidates, issued = waiting[t - DELAY]
            errors.append(abs(issued[SAID] - came[t - DELAY]))
            found = lead.learn(seen, candidates, issued, came[t - DELAY])
            assert found == pytest.approx(errors[-1], abs=1e-12)
        candidates = np.zeros(CANDIDATES)
        waiting.append((x[t], candidates, lead.ask(x[t], candidates)))
    issued = waiting[-1][2]
    # up to 100 errors count alike, once 20 are known none for more than eight times the mean
    mean = 0.0
    for n, error in enumerate(errors, start=1):
        mean += (min(error, 8 * mean) if n > 20 else error) / min(n, 100) - mean / min(n, 100)
    assert issued[SCALE] == pytest.approx(mean)


def test_wild_first_rows_weigh_no_more_than_later_ones() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 3))
    came = x @ np.array([1.0, -2.0, 0.5]) + 0.3 * rng.normal(size=600)
    wild_x, wild = x.copy(), came.copy()
    wild_x[:20] *= 15
    wild[:20] = 40 * rng.normal(size=20)
    calm, wary = Lead(3, (0.9,)), Lead(3, (0.9,))
    usual = _follow(calm, x, np.zeros(600), came, 1)
    found = _follow(wary, wild_x, np.zeros(600), wild, 1)
    assert np.mean(found[300:]) < 1.3 * np.mean(usual[300:])


def test_the_direct_regression_is_filled_in_among_the_candidates() -> None:
    rng = np.random.default_rng(3)
    lead, x = Lead(1, (0.9,)), rng.normal(size=(200, 1))
    _follow(lead, x, np.zeros(200), 3 * x[:, 0], 1)
    candidates = np.zeros(CANDIDATES)
    issued = lead.ask(np.array([2.0]), candidates)
    assert candidates[DIRECT] == pytest.approx(6.0, abs=0.1)
    assert issued[SAID] == pytest.approx(6.0, abs=0.3)


def test_regret_is_counted_from_what_was_said_then() -> None:
    mixture = Mixture(2)
    mixture.weights[:] = [1.0, 0.0]  # what it would say now: the value that came
    state = mixture_in(mixture.memory, 0, 2)
    learn_late_mixture(state, np.array([4.0, 2.0]), 3.0, 4.0, 0.5)
    # it had said 3, too little: the first was better by 1, the second worse by 1
    np.testing.assert_allclose(state.regret, [1.0, -1.0])
    np.testing.assert_allclose(state.variation, [1.0, 1.0])
    learn_late_mixture(state, np.array([4.0, 2.0]), 3.0, 2.0, 0.5)
    np.testing.assert_allclose(state.regret, [-0.5, 0.5])
    np.testing.assert_allclose(state.weights, [0.0, 1.0])


def test_intervals_are_wide_where_candidates_differ_and_errors_were_large() -> None:
    rng = np.random.default_rng(4)
    steps, lead = 3_000, Lead(1, (0.9,))
    apart = rng.choice([0.2, 2.0], size=steps)  # tells the noise
    came = apart * rng.normal(size=steps)
    wide, inside = np.zeros(steps), np.zeros(steps, bool)
    for n in range(steps):
        candidates = np.zeros(CANDIDATES)
        candidates[ITERATED] = apart[n]
        issued = lead.ask(np.zeros(1), candidates)
        wide[n] = issued[SIZE] * issued[WIDTHS] if n > 30 else np.inf
        inside[n] = abs(came[n] - issued[SAID]) <= wide[n]
        lead.learn(np.zeros(1), candidates, issued, came[n])
    calm, wild = apart[500:] == 0.2, apart[500:] == 2.0
    assert wide[500:][wild].mean() > 4 * wide[500:][calm].mean()
    assert inside[500:][wild].mean() == pytest.approx(0.9, abs=0.05)
    assert inside[500:][calm].mean() == pytest.approx(0.9, abs=0.05)
