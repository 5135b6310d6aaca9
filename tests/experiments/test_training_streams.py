"""The protocol of 2000, held against a plain loop, one step at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.experiments import nto
from tidegate.experiments.base import Trial
from tidegate.experiments.criteria import CRITERIA
from tidegate.experiments.paper_net import FORGETTING, KeepingBlock, paper_learner
from tidegate.experiments.sources import RestartedSource, SymbolSource, symbols
from tidegate.experiments.training_streams import (
    Outcome,
    Protocol,
    answered,
    run_protocol,
    train,
)
from tidegate.learn.geometric import Geometric
from tidegate.tasks import Parity, Reber, TemporalOrder, correct


def plain_stream(net, protocol, steps, learn: bool) -> int:
    """One stream, a step at a time, as the report words it; steps are (x, legal, start)."""
    net.forget()
    for count, (x, legal, start) in enumerate(steps):
        if count == protocol.limit:
            return count
        if start and protocol.resets:
            net.forget()
        y = net.predict(x)
        right = protocol.criterion(y[None], legal[None])[0]
        if learn and (right or protocol.update_on_error):
            net.learn(x, legal.astype(float))
        elif not learn:
            net.learn(x, np.full(len(legal), np.nan))
        if not right:
            return count + (1 if learn else 0)
    raise AssertionError("the stream was too short")


def strings_from(seed: int, skip: int = 0):
    block = Reber().stream(seed).block(30_000)
    rows = list(zip(block.inputs.astype(float), block.legal, block.starts, strict=True))
    return rows[skip:]


def trained(protocol: Protocol, cell, rate=0.5, streams: int = 60):
    """Our streams and the plain loop's, from the same strings: lengths and end weights."""
    fast, slow = (paper_learner(cell, 5, rate, dtype=np.float64) for _ in range(2))
    taught = paper_learner(cell, 5, 0.1, dtype=np.float64)
    block = Reber().stream(2).block(30_000)
    for begin in range(0, 30_000, 15):
        taught.forget()
        part = slice(begin, begin + 15)
        taught.run(block.inputs[part], block.legal[part].astype(float))
    for net in (fast, slow):
        state = net.state
        # Nets that know something, so that streams differ in length.
        state.weights[...] = taught.state.weights
        net.state = state
    source = SymbolSource(Reber(), 9)
    rows, at, lengths = strings_from(9), 0, []
    for _ in range(streams):
        lengths.append([train(fast, protocol, source)])
        while not rows[at][2]:
            at += 1
        if protocol.fresh_rate:
            state = slow.state
            state.counts[1] = 0
            slow.state = state
        done = plain_stream(slow, protocol, rows[at:], learn=True)
        at += done
        lengths[-1].append(done)
    return lengths, fast.state.weights, slow.state.weights


VARIANTS = {
    "plain": (Protocol(symbols(Reber()), CRITERIA["C"], limit=40), FORGETTING, 0.5),
    "resets": (Protocol(symbols(Reber()), CRITERIA["C"], 40, resets=True), KeepingBlock(), 0.5),
    "decay": (
        Protocol(symbols(Reber()), CRITERIA["C"], 40, fresh_rate=True),
        FORGETTING,
        Geometric(0.5, 0.99),
    ),
    "not on error": (
        Protocol(symbols(Reber()), CRITERIA["C"], 40, update_on_error=False),
        FORGETTING,
        0.5,
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_is_the_plain_loop(variant: str) -> None:
    protocol, cell, rate = VARIANTS[variant]
    lengths, fast, slow = trained(protocol, cell, rate)
    assert [a for a, _ in lengths] == [b for _, b in lengths]
    # A net that does not learn from its error makes it again: all its streams end there.
    assert (len({a for a, _ in lengths}) > 5) == protocol.update_on_error
    np.testing.assert_allclose(fast, slow, atol=1e-12)


def test_tests_count_as_the_plain_loop() -> None:
    protocol = Protocol(symbols(Reber()), CRITERIA["C"], limit=60)
    net = paper_learner(FORGETTING, 5, dtype=np.float64)
    block = Reber().stream(2).block(20_000)
    net.run(block.inputs, block.legal.astype(float))
    frozen, source, rows, at = net.predictor(), SymbolSource(Reber(), 11), strings_from(11), 0
    for _ in range(40):
        found = answered(frozen, protocol, source)
        while not rows[at][2]:
            at += 1
        assert found == plain_stream(net, protocol, rows[at:], learn=False)
        at += found + (found < protocol.limit)


def test_streams_of_sequences_end_after_so_many_answers() -> None:
    protocol = Protocol(symbols(TemporalOrder()), lambda y, wanted: np.ones(len(y), bool), limit=7)
    net = paper_learner(FORGETTING, 1, symbols=8)
    source = SymbolSource(TemporalOrder(), 3)
    block = TemporalOrder().stream(3).block(2000)
    assert train(net, protocol, source) == np.flatnonzero(block.legal.any(axis=1))[6] + 1
    assert answered(net.predictor(), protocol, source) == 7


def test_sequences_in_a_row_are_counted_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nto, "IN_A_ROW", 3)
    monkeypatch.setattr(nto, "within", lambda outputs, wanted: wanted[:, 2] | wanted[:, 5])
    seed = 8
    task = TemporalOrder()
    block = task.stream(int(np.random.SeedSequence(seed).generate_state(2)[1])).block(30_000)
    ends = np.flatnonzero(block.legal.any(axis=1)).tolist()
    hits = np.isin(block.targets[ends], (2, 5))
    last = int(np.argmax(hits[:-2] & hits[1:-1] & hits[2:])) + 2
    assert 4096 < ends[last] < 29_000  # over more than one call
    assert nto.Nto().trial("bias-5", seed, 1000) == Trial(True, ends[last] + 1, last + 1)
    assert nto.Nto().trial("bias-5", seed, last) == Trial(False, ends[last - 1] + 1, last)


def test_restarted_streams_are_those_of_seeds_of_their_own() -> None:
    source, seeds = RestartedSource(Parity(), 4), np.random.default_rng(4)
    for length in (3, 64, 65, 5000):
        source.begin()
        bits, targets = [], []
        while len(bits) < length:
            piece = source.peek(length - len(bits), 10**9)
            bits += source.inputs[piece, 1].tolist()
            targets += source.targets[piece, 0].tolist()
            source.take(piece.stop - piece.start)
        assert targets == (np.cumsum(bits) % 2).tolist()
        block = Parity().stream(int(seeds.integers(2**62))).block(length)
        assert bits == block.symbols.tolist()


def test_a_run_ends_at_the_first_perfect_test_or_with_its_streams() -> None:
    always = Protocol(symbols(Reber()), lambda y, wanted: np.ones(len(y), bool), 20, streams=5)
    found = run_protocol(paper_learner(FORGETTING, 1), always, np.random.SeedSequence(1))
    assert found == Outcome(True, 1, 20, True, 20.0)
    never = Protocol(symbols(Reber()), lambda y, wanted: np.zeros(len(y), bool), 20, streams=5)
    found = run_protocol(paper_learner(FORGETTING, 1), never, np.random.SeedSequence(1))
    assert found == Outcome(False, 5, 5, None, 0.0)


def test_criteria_agree_with_their_words() -> None:
    rng = np.random.default_rng(3)
    legal = rng.random((500, 7)) < 0.3
    outputs = np.clip(legal + rng.normal(size=legal.shape) * 0.35, 0, 1)
    errors = abs(outputs - legal)
    for letter, expected in {
        "A": [row.max() < 0.49 for row in errors],
        "B": [(row**2).max() < 0.49 for row in errors],
        "C": correct(outputs, legal).tolist(),
    }.items():
        assert CRITERIA[letter](outputs, legal).tolist() == expected
        assert 20 < sum(expected) < 480
    assert not CRITERIA["A"](np.full((1, 7), np.nan), legal[:1])[0]
