"""Categories: probabilities that add up, their own loss, and nothing seen before its time."""

from __future__ import annotations

from collections import defaultdict
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate import CheckpointError, UsageError
from tidegate.forecast import CategoryForecaster, Forecaster
from tidegate.forecast.counting import CONTEXTS, Counts
from tidegate.forecast.sharing import BayesMixture
from tidegate.tasks import Reber


def reber(steps: int, seed: int) -> list[str]:
    return [Reber.alphabet[symbol] for symbol in Reber().stream(seed).block(steps).symbols]


def counted(symbols: list[str], order: int) -> np.ndarray:
    """Bits of every symbol by its share after the ``order`` ones before it, half a count each."""
    counts: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(lambda: 0.5))
    bits = []
    for n, symbol in enumerate(symbols):
        row = counts[tuple(symbols[max(0, n - order) : n])]
        bits.append(-log2(row[symbol] / sum(row[c] for c in Reber.alphabet)))
        row[symbol] += 1
    return np.array(bits)


def told(forecaster: CategoryForecaster, symbols: list[str | None]) -> list[str]:
    """What it says before every symbol, in full."""
    said = []
    for symbol in symbols:
        said.append(repr(forecaster.predict()))
        forecaster.learn(symbol)
    return said


def test_it_beats_counts_on_a_grammar_that_they_cannot_read() -> None:
    """And comes near the source's own entropy, 0.58 bits a symbol."""
    symbols = reber(8_000, seed=11)
    forecaster = CategoryForecaster()
    bits = np.array([forecaster.learn(symbol) for symbol in symbols], np.float64)
    late = slice(5_000, None)
    orders = [counted(symbols, order)[late].mean() for order in range(4)]
    assert bits[late].mean() < 0.96 * min(orders)
    assert bits[late].mean() < 0.68


def test_the_loss_is_that_of_the_probability_that_was_given() -> None:
    forecaster = CategoryForecaster(limit=8, units=4)
    for symbol in reber(300, seed=1):
        said = forecaster.predict()
        assert sum(said.probabilities.values()) + said.other == pytest.approx(1, abs=1e-9)
        share = said.probabilities.get(symbol, said.other)
        assert forecaster.learn(symbol) == -log2(share)
        assert share > 0


def test_nothing_is_seen_before_its_time() -> None:
    symbols = reber(400, seed=2)
    garbage = [*symbols[:250], *reversed(symbols[250:-1]), "new"]
    one, two = (told(CategoryForecaster(units=8), list(s)) for s in (symbols, garbage))
    assert one[:251] == two[:251]
    assert one[300:] != two[300:]


@pytest.mark.parametrize("cut", [0, 1, 120])
def test_a_forecaster_put_down_goes_on_to_the_bit(tmp_path: Path, cut: int) -> None:
    symbols: list[str | None] = [*reber(150, seed=3), "Zürich", None, *reber(100, seed=4)]
    whole = told(CategoryForecaster(units=8, seed=5), symbols)
    first = CategoryForecaster(units=8, seed=5)
    told(first, symbols[:cut])
    first.save(tmp_path / "c.safetensors")
    again = CategoryForecaster.load(tmp_path / "c.safetensors")
    assert told(again, symbols[cut:]) == whole[cut:]
    assert again.steps == len(symbols)


def test_the_file_of_something_else_is_refused(tmp_path: Path) -> None:
    Forecaster(units=0).save(tmp_path / "f.safetensors")
    with pytest.raises(CheckpointError, match="categories"):
        CategoryForecaster.load(tmp_path / "f.safetensors")


def test_categories_grow_to_the_limit_and_the_rest_is_other() -> None:
    forecaster = CategoryForecaster(limit=4, units=4)
    assert forecaster.predict().other == 1.0
    assert forecaster.predict().likely is None
    for symbol in "abcdeabcdf" * 20:
        forecaster.learn(symbol)
    said = forecaster.predict()
    assert list(said.probabilities) == ["a", "b", "c"]
    assert said.other < 0.9
    for symbol in "abc":
        forecaster.learn(symbol)
    assert forecaster.predict().other > 0.5  # d, and e or f, come after c


def test_a_category_that_comes_late_is_learned() -> None:
    forecaster = CategoryForecaster(limit=16, units=8)
    first = [forecaster.learn(s) for s in "ab" * 200 + "abz" * 100]
    assert first[402] is not None and first[402] > 5  # the first z
    assert max(bits for bits in first[-30:] if bits is not None) < 0.3


def test_missing_ones_are_predicted_through() -> None:
    forecaster, losses = CategoryForecaster(limit=8, units=8), []
    for n in range(900):
        missing = n > 300 and n % 10 == 0
        bits = forecaster.learn(None if missing else "abc"[n % 3])
        assert (bits is None) == missing
        losses.append(bits)
    late = [bits for bits in losses[600:] if bits is not None]
    assert np.mean(late) < 0.5


def test_a_forecaster_of_only_missing_ones_says_nothing_and_stays_finite() -> None:
    forecaster = CategoryForecaster(limit=4, units=4)
    for _ in range(20):
        assert forecaster.learn(None) is None
    assert forecaster.predict().other == pytest.approx(1)


@pytest.mark.parametrize("wrong", [{"limit": 1}, {"units": 0}, {"seed": -1}, {"limit": 2.5}])
def test_sizes_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=f"CategoryForecaster {next(iter(wrong))}"):
        CategoryForecaster(**wrong)


def test_counts_are_interpolated_from_the_shorter_context_to_the_longer() -> None:
    counts = Counts(classes=3)
    for now in (0, 1, 0, 1, 0):
        counts.learn(now)
    none = (np.array([3, 2, 0]) + 2 / 3) / 7
    one = (np.array([0, 2, 0]) + 2 * none) / 4
    two = (np.array([0, 1, 0]) + 2 * one) / 3  # after 1, 0 came 1 once; it was 0, 1, 0 then
    assert counts.predict() == pytest.approx(np.array([none, one, two]))


def test_counts_are_halved_so_that_old_ones_fade() -> None:
    counts = Counts(classes=2)
    for _ in range(5_000):
        counts.learn(0)
    assert counts.none.sum() <= 1_000
    for _ in range(1_500):
        counts.learn(1)
    assert counts.predict()[0, 1] > 0.7


@given(st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=1, max_size=60))
@settings(max_examples=50)
def test_the_mixture_loses_little_to_its_best_expert(rows: list[list[float]]) -> None:
    """Every step keeps 1 - 1/(t+1) of the weight in place: log(experts) + log(steps + 1) in all."""
    mixture, loss, each = BayesMixture(3), 0.0, np.zeros(3)
    for row in rows:
        shares = np.array(row)
        loss -= log2(float(mixture.weights @ shares))
        each -= np.log2(shares)
        mixture.learn(shares)
        assert mixture.weights.sum() == pytest.approx(1)
    assert loss <= each.min() + log2(3) + log2(len(rows) + 1) + 1e-6


def test_the_mixture_comes_back_to_an_expert_that_was_bad_for_long() -> None:
    mixture = BayesMixture(2)
    for _ in range(5_000):
        mixture.learn(np.array([0.9, 0.1]))
    for _ in range(10):
        mixture.learn(np.array([0.1, 0.9]))
    assert mixture.weights[1] > 0.9


def test_pairs_of_few_classes_do_not_collide() -> None:
    counts, seen = Counts(classes=31), set()
    for a in range(32):
        for b in range(32):
            counts.last = np.array([a, b])
            row = counts._rows()[2]
            seen.add(row.__array_interface__["data"][0])
    assert len(seen) == CONTEXTS
