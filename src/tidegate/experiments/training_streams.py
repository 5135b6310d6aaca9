"""The protocol of 2000: training streams that end at the first error, a test after each.

A training stream starts with empty memories at the beginning of a string and ends with the first
wrong prediction, or at its limit. After it the weights are frozen and ten fresh test streams are
run in the same way; the net is perfect if no test stream ends before its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tidegate.experiments.criteria import Criterion
from tidegate.experiments.sources import Source
from tidegate.kernels.plan import Array
from tidegate.learn import Learner
from tidegate.tasks.arrays import Bools

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
    symbols = waiting = 0
    for streams in range(1, protocol.streams + 1):
        learned = train(net, protocol, trained)
        symbols, waiting = symbols + learned, waiting + learned
        if waiting < protocol.test_every:
            continue
        waiting = 0
        if _perfect(net, protocol, tested):
            retest = _perfect(net, protocol, tested)
            return Outcome(True, streams, symbols, retest, _mean_length(net, protocol, tested))
    length = _mean_length(net, protocol, tested)
    return Outcome(False, protocol.streams, symbols, None, length)


def train(net: Learner, protocol: Protocol, source: Source) -> int:
    """One training stream; its length in symbols, the wrong one included."""
    _empty(net, protocol.fresh_rate)
    source.begin()
    done, symbols, size = 0, 0, _SHORT
    while done < protocol.limit:
        piece = source.peek(size, protocol.limit - done)
        before = net.state
        right = _predictions_right(net, protocol, source, piece, source.targets)
        if not right.all():
            wrong = int(right.argmin())
            kept = wrong + protocol.update_on_error
            # What was learned beyond the error is undone: the stream had ended there.
            net.state = before
            _run(net, protocol, source, slice(piece.start, piece.start + kept), source.targets)
            source.take(wrong + 1)
            return symbols + wrong + 1
        source.take(len(right))
        symbols, done = symbols + len(right), done + int(source.asked[piece].sum())
        size = min(2 * size, _LONG)
    return symbols


def answered(net: Learner, protocol: Protocol, source: Source) -> int:
    """Right answers of one test stream before the first wrong one, up to the limit.

    Targets that are not known teach nothing, so the weights stay as they are.
    """
    net.forget()
    source.begin()
    done, size, limit = 0, _SHORT, protocol.limit * protocol.tests_longer
    while done < limit:
        piece = source.peek(size, limit - done)
        right = _predictions_right(net, protocol, source, piece, source.unknown)
        wrong = len(right) if right.all() else int(right.argmin())
        done += int(source.asked[piece][:wrong].sum())
        if wrong < len(right):
            source.take(wrong + 1)
            return done
        source.take(wrong)
        size = min(2 * size, _LONG)
    return done


def _perfect(net: Learner, protocol: Protocol, source: Source) -> bool:
    limit = protocol.limit * protocol.tests_longer
    return all(answered(net, protocol, source) == limit for _ in range(TESTS))


def _mean_length(net: Learner, protocol: Protocol, source: Source) -> float:
    return float(np.mean([answered(net, protocol, source) for _ in range(TESTS)]))


def _empty(net: Learner, fresh_rate: bool) -> None:
    net.forget()
    if fresh_rate:
        state = net.state
        state.counts[1] = 0
        net.state = state


def _predictions_right(
    net: Learner, protocol: Protocol, source: Source, piece: slice, targets: Array
) -> Bools:
    outputs = _run(net, protocol, source, piece, targets)
    right: Bools = protocol.criterion(outputs, source.wanted[piece]) | ~source.asked[piece]
    return right


def _run(
    net: Learner, protocol: Protocol, source: Source, piece: slice, targets: Array
) -> npt.NDArray[Any]:
    if not protocol.resets:
        return net.run(source.inputs[piece], targets[piece])
    outputs = [net.run(source.inputs[:0], targets[:0])]
    for string in _strings(source.starts, piece):
        if source.starts[string.start]:
            net.forget()
        outputs.append(net.run(source.inputs[string], targets[string]))
    return np.concatenate(outputs)


def _strings(starts: Bools, piece: slice) -> Iterator[slice]:
    """A piece cut where strings begin."""
    cuts = piece.start + np.flatnonzero(starts[piece])
    edges = np.unique([piece.start, *cuts, piece.stop])
    return (slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True))
