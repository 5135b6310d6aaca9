"""Does the online learner solve the continual embedded Reber grammar, every time, and how soon?

One never-ending stream, no resets, one update a symbol. Every 500 symbols the averaged weights are
tested, frozen, on ten fresh streams of 10^5 symbols, each from zero state with 200 symbols of
burn-in; a trial has solved the task when all ten pass without an error: every legal next symbol
scores above every illegal one. Then ten further fresh streams are passed or not (retest), another
10^6 symbols are learned and the errors made on the way counted, and the averaged weights are tested
on 10^6 symbols once more. The learner is one net of 32 units with coupled gates, whose memory stays
within [-1, 1]; the control is the LSTM of 1997, which cannot forget, under the same recipe.

    python benchmarks/cerg.py --trials 64 --seed 1000 [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from tidegate.cells import LSTM1997, Cell, Coupled
from tidegate.learn import (
    Adam,
    Harmonic,
    Learner,
    Network,
    Predictor,
    Softmax,
)
from tidegate.learn.sharpening_average import SharpeningAverage
from tidegate.tasks import Reber, State, correct

TASK = Reber()
TEST_EVERY, TESTS, TEST_SYMBOLS, BURN_IN = 500, 10, 100_000, 200
BUDGET, CONTROL_BUDGET, CONTROL_TRIALS = 200_000, 1_000_000, 8
AFTERWARDS = 1_000_000


@dataclass(frozen=True)
class Trial:
    """What one trial came to; the counts are None where it was not solved.

    Attributes:
        symbols: learned until solved.
        retest: whether ten further fresh streams were passed.
        learning_errors: made by the raw weights in the 10^6 symbols after solving.
        frozen_errors: made by the averaged weights on 10^6 symbols after that.
    """

    symbols: int | None = None
    retest: bool | None = None
    learning_errors: int | None = None
    frozen_errors: int | None = None


def learner(cell: Cell, seed: int) -> Learner:
    """The recipe; docs/experiments/log.md says what was tried, on seeds below 1,000."""
    return Learner(
        Network(TASK.inputs, TASK.outputs, cell=cell, units=32, scale=0.05),
        loss=Softmax(),
        optimiser=Adam(Harmonic(0.03, tau=2e3), eps=3e-3),
        averaging=SharpeningAverage(first=0.1, last=0.3, after=1e4),
        seed=seed,
    )


def pieces(total: int) -> Iterator[int]:
    """Lengths that grow, so that a test that fails early ends early."""
    done, length = 0, BURN_IN + 300
    while done < total:
        length = min(length, total - done)
        yield length
        done, length = done + length, 4 * length


def first_errors(predictor: Predictor, seed: int, symbols: int, stop: bool) -> int:
    """Errors on a fresh stream from zero state, without the burn-in; ``stop`` at the first ones."""
    predictor.forget()
    state, seen, errors = TASK.start(seed), 0, 0
    for length in pieces(symbols + BURN_IN):
        block, state = TASK.block(state, length)
        right = correct(predictor.run(block.inputs), block.legal)
        errors += int(np.count_nonzero(~right[max(0, BURN_IN - seen) :]))
        seen += length
        if errors and stop:
            break
    return errors


def passes(predictor: Predictor, seeds: np.random.SeedSequence) -> bool:
    streams = seeds.generate_state(TESTS).tolist()
    return all(first_errors(predictor, s, TEST_SYMBOLS, stop=True) == 0 for s in streams)


def until_solved(
    net: Learner, state: State, testing: np.random.SeedSequence, budget: int
) -> tuple[int | None, State]:
    """Symbols learned until a test passes, None if none does; and where the stream stands."""
    for symbols in range(TEST_EVERY, budget + 1, TEST_EVERY):
        block, state = TASK.block(state, TEST_EVERY)
        net.run(block.inputs, block.targets)
        if passes(net.averaged(), testing.spawn(1)[0]):
            return symbols, state
    return None, state


def errors_while_learning(net: Learner, state: State) -> int:
    errors = 0
    for _ in range(AFTERWARDS // TEST_SYMBOLS):
        block, state = TASK.block(state, TEST_SYMBOLS)
        errors += int(np.count_nonzero(~correct(net.run(block.inputs, block.targets), block.legal)))
    return errors


def trial(seed: int, cell: Cell, budget: int) -> Trial:
    learning, testing = np.random.SeedSequence(seed).spawn(2)
    own, stream_seed = learning.generate_state(2).tolist()
    net = learner(cell, own)
    symbols, state = until_solved(net, TASK.start(stream_seed), testing, budget)
    if symbols is None:
        return Trial()
    retest = passes(net.averaged(), testing.spawn(1)[0])
    errors = errors_while_learning(net, state)
    fresh = int(testing.spawn(1)[0].generate_state(1)[0])
    return Trial(symbols, retest, errors, first_errors(net.averaged(), fresh, AFTERWARDS, False))


def report(trials: list[Trial], control: list[Trial], seed: int) -> dict[str, int | float | None]:
    solved = [t for t in trials if t.symbols is not None]
    symbols = [t.symbols for t in solved if t.symbols is not None]
    return {
        "trials": len(trials),
        "seed": seed,
        "solved": len(solved),
        "median_symbols": median(symbols) if symbols else None,
        "max_symbols": max(symbols, default=None),
        "retest_perfect": sum(t.retest is True for t in solved),
        "frozen_perfect_1e6": sum(t.frozen_errors == 0 for t in solved),
        "learning_error_free_1e6": sum(t.learning_errors == 0 for t in solved),
        "learning_errors_1e6_median": median([t.learning_errors or 0 for t in solved] or [0]),
        "control_trials": len(control),
        "control_solved": sum(t.symbols is not None for t in control),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1000, help="of the first trial")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    ours = partial(trial, cell=Coupled(forget_bias=1.5), budget=BUDGET)
    control = partial(trial, cell=LSTM1997(), budget=CONTROL_BUDGET)
    seeds = range(options.seed, options.seed + options.trials)
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        trials = pool.map(ours, seeds, chunksize=1)
        controls = pool.map(control, seeds[:CONTROL_TRIALS], chunksize=1)
    found = report(trials, controls, options.seed)
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:28s}{value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
