"""Mixtures, the never-ending protocol, nets set by hand, and the streams of single experiments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.cells import LSTM1997, RNN
from tidegate.experiments.adding import adding_stream
from tidegate.experiments.braces import bracket_tokens
from tidegate.experiments.cnto_best import SpreadLSTM
from tidegate.experiments.mixture import Mixture, class_surprise, pieces, yes_no_surprise
from tidegate.experiments.never_ending import (
    Endless,
    legal_symbols,
    next_symbol,
    run_endless,
)
from tidegate.experiments.recent_one import bounds, hand_set
from tidegate.experiments.telephone import gradient_reach
from tidegate.experiments.timing_sources import DelaySource, RhythmSource, SpikeSource
from tidegate.gates import half_life_from_preactivation
from tidegate.learn import Adam, Learner, Network, RunningAverage, Softmax
from tidegate.tasks import Reber, RecentOne, TemporalOrder, correct


def member(seed: int) -> Learner:
    network = Network(7, 7, cell="lstm", units=4)
    return Learner(network, Softmax(), Adam(0.02), RunningAverage(1e-3), seed=seed)


def reber(steps: int, seed: int = 1):
    block = Reber().stream(seed).block(steps)
    return block.inputs.astype(np.float64), block.targets[:, None].astype(np.float64)


def test_a_mixture_of_one_speaks_by_averaged_weights_with_memories_of_their_own() -> None:
    mixture, alone, (xs, targets) = Mixture([member(3)]), member(3), reber(90)
    online = alone._online
    own = alone.state
    for first in range(0, 90, 30):
        part = slice(first, first + 30)
        said = mixture.learn(xs[part], targets[part])
        own.weights[...] = alone.state.average
        expected = online.frozen(own, xs[part])
        np.testing.assert_allclose(said, expected, atol=1e-5)
        alone.run(xs[part], targets[part])
    np.testing.assert_array_equal(mixture._voices[0].member.state.weights, alone.state.weights)


def test_members_are_weighed_by_their_surprise() -> None:
    members, (xs, targets) = [member(1), member(2), member(3)], reber(40)
    mixture = Mixture(members, eta=0.5, window=20.0)
    losses, fade = np.zeros(3), 1 - 1 / 20
    for first in range(0, 40, 10):
        part = slice(first, first + 10)
        said = [voice.member.averaged() for voice in mixture._voices]
        if first == 0:
            nats = [class_surprise(p.run(xs[part]), targets[part]) for p in said]
            losses = np.array([sum(fade ** (9 - k) * n[k] for k in range(10)) for n in nats])
        mixture.learn(xs[part], targets[part])
        if first == 0:
            powers = np.exp(-0.5 * losses)
            np.testing.assert_allclose(mixture.shares, powers / powers.sum(), rtol=1e-4)
    assert mixture.shares.sum() == pytest.approx(1)


def test_a_frozen_mixture_no_longer_changes() -> None:
    mixture, (xs, targets) = Mixture([member(1), member(2)]), reber(200)
    mixture.learn(xs[:100], targets[:100])
    frozen = mixture.frozen()
    frozen.forget()
    before = frozen.run(xs[:20])
    mixture.learn(xs[100:], targets[100:])
    frozen.forget()
    np.testing.assert_array_equal(frozen.run(xs[:20]), before)


def test_members_learn_from_trembling_inputs_of_their_own_and_averages_from_still_ones() -> None:
    members, (xs, targets) = [member(1), member(2)], reber(60)
    seen: list[np.ndarray] = []
    for one in members:
        run = one.run
        one.run = lambda x, t, run=run: (seen.append(x.copy()), run(x, t))[1]
    mixture = Mixture(members, jitter=0.25, seed=4)
    still = member(1).averaged().run(xs)
    said = mixture._voices[0].say(xs)
    np.testing.assert_allclose(said, still, atol=1e-6)
    mixture.learn(xs, targets)
    noise = np.array(seen) - xs
    assert abs(noise).max() <= 0.25 and abs(noise).max() > 0.24
    assert abs(noise.mean()) < 0.02 and not np.array_equal(noise[0], noise[1])
    np.testing.assert_allclose(noise.std(), 0.25 / np.sqrt(3), rtol=0.05)


def test_without_jitter_members_see_what_came() -> None:
    one, alone, (xs, targets) = member(5), member(5), reber(60)
    Mixture([one]).learn(xs, targets)
    alone.run(xs, targets)
    np.testing.assert_array_equal(one.state.weights, alone.state.weights)


def test_surprise_of_answers_yes_or_no() -> None:
    said = np.array([[0.9, 0.2], [0.9, 0.2], [1.0, 0.0]])
    came = np.array([[1.0, 1.0], [np.nan, np.nan], [0.0, 0.0]])
    nats = yes_no_surprise(said, came)
    assert nats.tolist() == pytest.approx([-np.log(0.9) - np.log(0.2), 0.0, -np.log(1e-12)])


@pytest.mark.parametrize("task", [Reber(), TemporalOrder()], ids=lambda t: t.name)
def test_targets_are_unknown_where_nothing_is_asked(task) -> None:
    block = task.stream(3).block(500)
    asked = block.legal.any(axis=1)
    one, every = next_symbol(block), legal_symbols(block)
    assert np.isnan(one[~asked]).all() and np.isnan(every[~asked]).all()
    assert one[asked, 0].tolist() == block.targets[asked].tolist()
    np.testing.assert_array_equal(every[asked], block.legal[asked])


def test_what_is_not_asked_is_no_surprise() -> None:
    nats = class_surprise(np.array([[0.2, 0.8], [0.2, 0.8]]), np.array([[np.nan], [0.0]]))
    assert nats.tolist() == pytest.approx([0.0, -np.log(0.2)])


@given(steps=st.integers(0, 10**5), done=st.integers(0, 10**6), shortest=st.integers(1, 200))
def test_pieces_add_up(steps: int, done: int, shortest: int) -> None:
    found = list(pieces(steps, done, shortest))
    assert sum(found) == steps and all(0 < n <= 80 * shortest for n in found)


class Knowing:
    """Predicts by the oracle, but errs at some steps of the learned stream."""

    def __init__(self, task, errors=()) -> None:
        self.task, self.errors = task, set(errors)
        self.seen = np.zeros(0, np.uint8)
        self.learned = 0

    def run(self, xs):
        self.seen = np.append(self.seen, xs.argmax(axis=1).astype(np.uint8))
        return self.task.oracle(self.seen)[-len(xs) :] if len(xs) else xs

    def learn(self, xs, targets):
        predictions = self.run(xs).copy()
        for step in self.errors & set(range(self.learned, self.learned + len(xs))):
            predictions[step - self.learned] = 0
        self.learned += len(xs)
        return predictions

    def forget(self) -> None:
        self.seen = np.zeros(0, np.uint8)

    def frozen(self):
        return Knowing(self.task)


class Ignorant(Knowing):
    """Never right."""

    def run(self, xs):
        return np.zeros((len(xs), self.task.outputs))

    def frozen(self):
        return Ignorant(self.task)


def small(task, **kw) -> Endless:
    options = dict(every=200, tests=2, length=1000, burn_in=50, afterwards=900) | kw
    return Endless(task, correct, **options)


@pytest.mark.parametrize("task", [Reber(), TemporalOrder()], ids=lambda t: t.name)
def test_who_knows_all_has_solved_it_at_the_first_test(task) -> None:
    found = run_endless(Knowing(task), small(task), np.random.SeedSequence(1), 2000)
    assert (found.solved, found.symbols, found.retest) == (True, 200, True)
    assert (found.error_free, found.measure) == (True, 0.0)


def test_errors_are_counted_after_solving_and_not_before() -> None:
    knowing = Knowing(Reber(), errors=[5, 150, 300, 301, 1099, 1100])
    found = run_endless(knowing, small(Reber()), np.random.SeedSequence(1), 2000)
    assert (found.solved, found.error_free, found.measure) == (True, False, 3.0)


def test_who_knows_nothing_has_used_up_the_budget() -> None:
    found = run_endless(Ignorant(Reber()), small(Reber()), np.random.SeedSequence(1), 1000)
    assert (found.solved, found.symbols, found.retest, found.measure) == (False, 1000, None, None)


@pytest.mark.parametrize("n", [3, 4, 5, 10, 20])
def test_the_net_set_by_hand_is_right_exactly_within_its_bounds(n: int) -> None:
    low, high = bounds(n)
    zeros = [np.r_[1, np.zeros(k, int)] for k in range(n + 3)]
    bits = np.concatenate([*zeros, *zeros[::-1]])
    expected = RecentOne(n=n).oracle(bits.astype(np.uint8)).argmax(axis=1)

    def right(d: float) -> bool:
        scores = hand_set(d, latch=False).run(np.eye(2)[bits])
        return bool((scores.argmax(axis=1) == expected).all())

    gap = (high - low) * 1e-3
    inside, outside = (low + gap, high - gap, (low + high) / 2), (low - gap, high + gap)
    assert all(map(right, inside)) and not any(map(right, outside))


@given(zeros=st.integers(0, 60), n=st.sampled_from([3, 7]))
def test_the_latch_is_right_before_the_first_one(zeros: int, n: int) -> None:
    bits = np.r_[np.zeros(zeros, int), 1, np.zeros(n + 2, int)]
    expected = RecentOne(n=n).oracle(bits.astype(np.uint8)).argmax(axis=1)
    found = hand_set(np.mean(bounds(n)), latch=True).run(np.eye(2)[bits]).argmax(axis=1)
    assert found.tolist() == expected.tolist()


def test_half_lives_begin_spread_evenly() -> None:
    laws = SpreadLSTM(shortest=10, longest=160).biases()
    rng = np.random.default_rng(0)
    lives = half_life_from_preactivation(laws["f"](rng, 5))
    np.testing.assert_allclose(lives, [10, 20, 40, 80, 160])
    np.testing.assert_allclose(laws["i"](rng, 5), -laws["f"](rng, 5))


def test_the_gradient_of_a_plain_net_at_rest_is_a_power_of_its_matrix() -> None:
    network = Network(1, 1, cell=RNN(), units=4)
    weights = network.initial(3)
    views = network.plan.weights.views(weights)
    views["layer0.bias"][...] = 0
    matrix = views["layer0.hidden"][:, 0]
    for steps in (1, 7, 40):
        power = np.linalg.norm(np.linalg.matrix_power(matrix, steps))
        reach = gradient_reach(network, weights, np.zeros((steps, 1)))
        assert reach == pytest.approx(np.log10(power / 2), abs=1e-4)


def test_the_gradient_of_a_memory_that_keeps_all_stays() -> None:
    network = Network(1, 1, cell=LSTM1997(), units=3, scale=0.0)
    reaches = [gradient_reach(network, network.initial(0), np.zeros((n, 1))) for n in (5, 500)]
    assert reaches[0] == pytest.approx(reaches[1], abs=1e-6)


@given(rounds=st.integers(1, 20), length=st.integers(4, 40), seed=st.integers(0, 999))
def test_adding_asks_for_the_sum_of_two_marked_numbers(rounds, length, seed) -> None:
    xs, targets = adding_stream(np.random.default_rng(seed), rounds, length)
    for x, target in zip(
        xs.reshape(rounds, length, 2), targets.reshape(rounds, length), strict=True
    ):
        marked = np.flatnonzero(x[:, 1] == 1)
        assert len(marked) == 2 and marked[0] < length // 2 <= marked[1] < length - 1
        assert target[-1] == x[marked, 0].sum() and np.isnan(target[:-1]).all()


def drawn(source, reads: int = 2):
    source.begin()
    xs, targets = [], []
    for _ in range(reads):
        source.read()
        xs.append(source.inputs[:, 0])
        targets.append(source.targets[:, 0])
    return np.concatenate(xs), np.concatenate(targets)


@pytest.mark.parametrize("period", [3, 10])
def test_delays_are_between_spikes(period: int) -> None:
    xs, targets = drawn(DelaySource(4, period))
    spikes = np.flatnonzero(xs)
    assert spikes[0] == 0 and np.isnan(targets[0])
    assert targets[spikes[1:]].tolist() == (np.diff(spikes) - period).tolist()
    assert np.isfinite(targets).sum() == len(spikes) - 1
    assert set(np.diff(spikes)) == {period, period + 1}


def test_spikes_come_as_the_input_says() -> None:
    xs, targets = drawn(SpikeSource(4, 10))
    ends = np.flatnonzero(targets)
    begins = np.r_[0, ends[:-1] + 1]
    for begin, end in zip(begins, ends, strict=True):
        assert len(set(xs[begin : end + 1])) == 1 and end + 1 - begin == 10 + xs[begin]


def test_a_rhythm_goes_on_over_reads_and_begins_anew() -> None:
    source = RhythmSource(0, 10, np.cos)
    _, targets = drawn(source)
    np.testing.assert_allclose(targets, np.cos(2 * np.pi * np.arange(len(targets)) / 10), atol=1e-9)
    assert drawn(source, 1)[1][0] == 1.0


def test_brackets_in_strings_and_comments_are_none() -> None:
    source = ["f = {  # (\n", "  '[': (1,\n", "     '''\n", "{'''),\n", "}\n", "g = [f]\n"]
    kinds, due, ages = bracket_tokens(iter(source))
    brackets = [k for k in kinds if k < 6]
    assert brackets == [2, 0, 3, 5, 1, 4]
    assert due[kinds.index(3)] == 2 and due[kinds.index(5)] == -1
    # (, 1, the comma, the end of the line, and the string over two lines.
    assert max(ages) == 3 and due.count(0) == 5
