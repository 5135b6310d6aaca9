"""Units built by hand are told apart; a random gate is called nothing."""

from __future__ import annotations

import numpy as np
import pytest

from support.traces import leaky
from tidegate import memory
from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace

STEPS = 1200
clock = np.arange(STEPS)


def keeps(rng: np.random.Generator) -> np.ndarray:
    return 1 - rng.uniform(1e-5, 2e-3, STEPS)


def bursts(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(STEPS) < 0.02, 0.05, 1 - rng.uniform(1e-4, 5e-3, STEPS))


def daily_dip(rng: np.random.Generator) -> np.ndarray:
    return np.where(clock % 24 == 5, 0.1, 0.97) * rng.uniform(0.99, 1, STEPS)


def daily_wave(rng: np.random.Generator) -> np.ndarray:
    return 0.7 + 0.25 * np.sin(2 * np.pi * clock / 24) + 0.03 * rng.normal(size=STEPS).clip(-1, 1)


def filters(rng: np.random.Generator) -> np.ndarray:
    return 1 / (1 + np.exp(-(2.0 + 0.1 * rng.normal(size=STEPS))))


def uniform(rng: np.random.Generator) -> np.ndarray:
    return rng.random(STEPS)


def random_slot(rng: np.random.Generator) -> np.ndarray:
    return 1 / (1 + np.exp(-3 * rng.normal(size=STEPS)))


def random_walk(rng: np.random.Generator) -> np.ndarray:
    slot = np.zeros(STEPS)
    for t in range(1, STEPS):
        slot[t] = 0.9 * slot[t - 1] + rng.normal()
    return 1 / (1 + np.exp(-slot))


KINDS = {
    keeps: "keeps", bursts: "bursts", daily_dip: "periodic", daily_wave: "periodic",
    filters: "filters", uniform: "none", random_slot: "none", random_walk: "none",
}  # fmt: skip


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_units_built_by_hand(make) -> None:
    rng = np.random.default_rng(len(make.__name__))
    f = np.stack([make(rng) for _ in range(20)], axis=1)[:, None, :]
    trace = leaky(f, (1 - f) * rng.normal(size=f.shape))
    found = memory.patterns(trace)
    assert [pattern.kind for pattern in found] == [KINDS[make]] * 20
    assert [pattern.unit for pattern in found] == list(range(20))
    if KINDS[make] == "periodic":
        assert {pattern.evidence.period for pattern in found} == {24}


def test_a_steady_gate_whose_writes_are_no_noise_filters_none() -> None:
    f = np.full((STEPS, 1, 1), 0.9)
    slow = np.sin(2 * np.pi * clock / 300)[:, None, None]
    (pattern,) = memory.patterns(leaky(f, slow))
    assert pattern.kind == "none" and pattern.evidence.write_correlation > 0.9


def test_the_answer_comes_with_its_evidence() -> None:
    rng = np.random.default_rng(0)
    f = np.stack([make(rng) for make in KINDS], axis=1)[:, None, :]
    found = memory.patterns(leaky(f, rng.normal(size=f.shape)))
    starts = ["keeps", "lets go in bursts", "periodic: every 24", "periodic: every 24", "filters"]
    for pattern, start in zip(found, [*starts, "no", "no", "no"], strict=True):
        assert pattern.words().startswith(start)
    half_lives = memory.half_lives(leaky(f, f))
    for unit, pattern in enumerate(found):
        assert pattern.evidence.effective == pytest.approx(half_lives.effective[unit])
        assert pattern.evidence.between_events == pytest.approx(half_lives.between_events[unit])


def test_a_step_that_keeps_nothing_is_a_burst_like_any_other() -> None:
    f = np.full((STEPS, 1, 3), 0.999)
    f[[100, 350, 900], 0, 0] = 0.0
    f[:, 0, 1] = 0.0
    f[np.random.default_rng(0).random(STEPS) < 0.2, 0, 2] = 0.0
    found = memory.patterns(leaky(f, np.ones(f.shape)))
    assert [pattern.kind for pattern in found] == ["bursts", "none", "none"]
    assert found[0].words() == (
        "lets go in bursts: half-life 692.8 steps between events, none with them; "
        "100% of the loss in 5% of the steps"
    )
    zeros = int((f[:, 0, 2] == 0).sum())
    assert found[2].evidence.loss_in_few == pytest.approx(0.05 * STEPS / zeros)
    assert [pattern.evidence.spread for pattern in found] == [1.0, 1.0, np.inf]
    assert found[1].evidence.loss_in_few == pytest.approx(0.05)


def test_a_gate_that_closes_fully_each_day_is_periodic() -> None:
    f = np.where(clock % 24 == 5, 0.0, 0.97)[:, None, None]
    (pattern,) = memory.patterns(leaky(f, np.ones(f.shape)))
    assert (pattern.kind, pattern.evidence.period) == ("periodic", 24)


def test_resets_are_left_out_and_short_traces_refused() -> None:
    rng = np.random.default_rng(1)
    reset = (clock % 100 == 99)[:, None]
    trace = leaky(keeps(rng)[:, None, None], rng.normal(size=(STEPS, 1, 1)), reset)
    assert memory.patterns(trace)[0].kind == "keeps"
    with pytest.raises(UsageError, match="at least 100 steps"):
        memory.patterns(trace.part(0, 99))
    sealed = Trace({"c": np.zeros((200, 1, 1))}, {"c": np.ones((200, 1, 1))})
    assert memory.patterns(sealed)[0].kind == "keeps"
