"""The protocol of 2000: training streams that end at the first error, a test after each.

A training stream starts with empty memories at the beginning of a string and ends with the first
wrong prediction, or at its limit. After it the weights are frozen and ten fresh test streams are
run in the same way; the net is perfect if no test stream ends before its limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tidegate.experiments.criteria import Criterion
from tidegate.experiments.sources import Source
from tidegate.learn import Learner, Predictor

__all__ = ["Outcome", "Protocol", "answered", "run_protocol", "train"]

TESTS = 10
_SHORT, _LONG = 16, 2048


@dataclass(frozen=True)
class Protocol:
    """What the streams are, when a prediction is right, and when to stop.

    Attributes:
        open: makes an endless supply of streams from a seed.
        criterion: when a prediction is right; steps that ask nothing are.
        limit: questions of the longest stream, in training and in tests; where every symbol asks
            for the next one, these are symbols.
        streams: training streams at most.
        resets: whether memories are emptied at the beginning of every string (external reset).
        fresh_rate: whether the learning rate's schedule begins anew with every training stream.
        update_on_error: whether the step that ends a training stream is learned from.
        test_every: symbols to be learned between tests; 0 means a test after every stream.
        tests_longer: how many times as long as a training stream a test stream may be.
    """

    open: Callable[[int], Source]
    criterion: Criterion
    limit: int = 100_000
    streams: int = 30_000
    resets: bool = False
    fresh_rate: bool = False
    update_on_error: bool = True
    test_every: int = 0
    tests_longer: int = 1


@dataclass(frozen=True)
class Outcome:
    """What became of one net.

    Attributes:
        solved: whether all ten tests of one occasion were perfect.
        streams, symbols: trained until then, or in all.
        retest: whether ten further fresh test streams were perfect; None if not solved.
        test_length: mean length of the last ten test streams, in questions.
    """

    solved: bool
    streams: int
    symbols: int
    retest: bool | None
    test_length: float


def run_protocol(net: Learner, protocol: Protocol, seeds: np.random.SeedSequence) -> Outcome:
    """Train ``net`` by the protocol until it is perfect or the streams are used up."""
    training, testing = (int(s) for s in seeds.generate_state(2))
    trained, tested = protocol.open(training), protocol.open(testing)
    frozen = net.predictor()
    symbols = waiting = 0
    for streams in range(1, protocol.streams + 1):
        learned = train(net, protocol, trained)
        symbols, waiting = symbols + learned, waiting + learned
        if waiting < protocol.test_every:
            continue
        waiting = 0
        frozen.follow(net)
        if _perfect(frozen, protocol, tested):
            retest = _perfect(frozen, protocol, tested)
            return Outcome(True, streams, symbols, retest, _mean_length(frozen, protocol, tested))
    frozen.follow(net)
    length = _mean_length(frozen, protocol, tested)
    return Outcome(False, protocol.streams, symbols, None, length)


def train(net: Learner, protocol: Protocol, source: Source) -> int:
    """One training stream; its length in symbols, the wrong one included."""
    _empty(net, protocol.fresh_rate)
    source.begin()
    done, symbols, size = 0, 0, _SHORT
    while done < protocol.limit:
        piece = source.peek(size, protocol.limit - done)
        before = net.mark()
        wrong = _first_error(_learn(net, protocol, source, piece), protocol, source, piece)
        if wrong is not None:
            kept = wrong + protocol.update_on_error
            # What was learned beyond the error is undone: the stream had ended there.
            net.rewind(before)
            _learn(net, protocol, source, slice(piece.start, piece.start + kept))
            source.take(wrong + 1)
            return symbols + wrong + 1
        steps = piece.stop - piece.start
        source.take(steps)
        symbols, done = symbols + steps, done + _questions(source, piece)
        size = min(2 * size, _LONG)
    return symbols


def answered(frozen: Predictor, protocol: Protocol, source: Source) -> int:
    """Right answers of one test stream before the first wrong one, up to the limit."""
    frozen.forget()
    source.begin()
    done, size, limit = 0, _SHORT, protocol.limit * protocol.tests_longer
    while done < limit:
        piece = source.peek(size, limit - done)
        starts = source.starts[piece] if protocol.resets else None
        outputs = frozen.run(source.inputs[piece], starts)
        wrong = _first_error(outputs, protocol, source, piece)
        if wrong is not None:
            source.take(wrong + 1)
            return done + _questions(source, slice(piece.start, piece.start + wrong))
        source.take(piece.stop - piece.start)
        done += _questions(source, piece)
        size = min(2 * size, _LONG)
    return done


def _perfect(frozen: Predictor, protocol: Protocol, source: Source) -> bool:
    limit = protocol.limit * protocol.tests_longer
    return all(answered(frozen, protocol, source) == limit for _ in range(TESTS))


def _mean_length(frozen: Predictor, protocol: Protocol, source: Source) -> float:
    return float(np.mean([answered(frozen, protocol, source) for _ in range(TESTS)]))


def _empty(net: Learner, fresh_rate: bool) -> None:
    net.forget()
    if fresh_rate:
        net.rewind(replace(net.mark(), updates=0))


def _learn(
    net: Learner, protocol: Protocol, source: Source, piece: slice
) -> npt.NDArray[np.floating]:
    starts = source.starts[piece] if protocol.resets else None
    return net.run(source.inputs[piece], source.targets[piece], starts)


def _first_error(
    outputs: npt.NDArray[np.floating], protocol: Protocol, source: Source, piece: slice
) -> int | None:
    """The step of a piece whose answer is wrong before all others; None if all are right."""
    right = protocol.criterion(outputs, source.wanted[piece])
    if not source.every:
        right = right | ~source.asked[piece]
    first = int(right.argmin())
    return None if right[first] else first


def _questions(source: Source, piece: slice) -> int:
    """How many steps of a piece ask something."""
    if source.every:
        return int(piece.stop - piece.start)
    return int(np.count_nonzero(source.asked[piece]))
