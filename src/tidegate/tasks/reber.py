"""The embedded Reber grammar, as single strings and as a stream without end.

A string is a T or a P, a Reber string, and the same T or P again, six steps or more after the
first. Each branch is a fair coin. Strings with their outer B and E are 9 symbols or longer, 12 in
the mean.

Hochreiter & Schmidhuber 1997, section 5.1; Gers, Schmidhuber & Cummins 2000, section 4.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from tidegate.tasks.arrays import Floats, Symbols
from tidegate.tasks.automaton import Automaton, Branches, Graph, Nodes
from tidegate.tasks.base import Block, State, Task, checked_steps
from tidegate.tasks.randomness import checked_seed, random_bits

_INNER = {
    "0": (("T", "1"), ("P", "2")),
    "1": (("S", "1"), ("X", "3")),
    "2": (("T", "2"), ("V", "4")),
    "3": (("X", "2"), ("S", "5")),
    "4": (("P", "3"), ("V", "5")),
}


def _embedded(after: str) -> Graph:
    """The grammar from its choice of T or P to the repetition, which leads to ``after``."""
    graph: dict[str, Branches] = {"choice": (("T", "T enters"), ("P", "P enters"))}
    for outer in "TP":
        graph[f"{outer} enters"] = (("B", f"{outer}0"),)
        for node, branches in _INNER.items():
            graph[outer + node] = tuple((symbol, outer + to) for symbol, to in branches)
        graph[f"{outer}5"] = (("E", f"{outer} leaves"),)
        graph[f"{outer} leaves"] = ((outer, after),)
    return graph


class EmbeddedReber(Task):
    """What both streams share: seven symbols, the next one to be predicted."""

    alphabet: ClassVar[str] = "BTSXPVE"
    inputs: ClassVar[int] = 7
    outputs: ClassVar[int] = 7

    def __init__(self) -> None:
        self._automaton = Automaton.of(self.graph(), self.alphabet)

    @abstractmethod
    def graph(self) -> Graph:
        """Node -> its branches (symbol, next node); the first node is where a string begins."""

    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``: the beginning of a string."""
        return State(checked_seed(seed), 0, 0)

    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` symbols; the state's memory is the automaton's node."""
        seed, position, node = state
        bits = random_bits(seed, position, checked_steps(steps) + 1)
        symbols, nodes = self._automaton.walk(node, bits)
        after = State(seed, position + steps, int(nodes[-2]) if steps else node)
        return self._block(node, symbols, nodes[:-1]), after

    def _block(self, first: int, symbols: Symbols, nodes: Nodes) -> Block:
        before = np.append(np.uint8(first), nodes[:-1])[: len(nodes)]
        legal = self._automaton.legal.take(nodes, axis=0)
        return Block(symbols[:-1], symbols[1:], legal, before == 0, len(self.alphabet))

    def string(self, generator: np.random.Generator) -> Block:
        """One string: each symbol with its successor; the last symbol has none and is no input.

        >>> block = Reber().string(np.random.default_rng(3))
        >>> "".join(Reber.alphabet[symbol] for symbol in [block.symbols[0], *block.targets])
        'BTBTSXSETE'
        """
        bits: list[int] = []
        node = 0
        while node or not bits:
            bits.append(int(generator.integers(2)))
            node = int(self._automaton.following[node, bits[-1]])
        symbols, nodes = self._automaton.walk(0, np.array(bits, np.uint8))
        return self._block(0, symbols, nodes[:-1])

    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, 7) true probabilities of the next symbol, from the symbols (steps,) alone."""
        return self._automaton.probabilities(self._automaton.recognise(symbols))


class Reber(EmbeddedReber):
    """Strings B (T|P) B ... E (T|P) E one after another, with nothing between them.

    >>> task = Reber()
    >>> block, state = task.block(task.start(seed=0), 24)
    >>> "".join(task.alphabet[symbol] for symbol in block.symbols)
    'BPBPVPXVPXTVVEPEBTBTSXSE'
    >>> ["".join(np.array(list(task.alphabet))[row]) for row in block.legal[:4]]
    ['TP', 'B', 'TP', 'TV']
    """

    name: ClassVar[str] = "reber"

    def graph(self) -> Graph:
        """The embedded grammar between an outer B and an outer E."""
        return {"begin": (("B", "choice"),), **_embedded("end"), "end": (("E", "begin"),)}


class UnmarkedReber(EmbeddedReber):
    """The same stream without the B that begins and the E that ends each string.

    The B and E of the inner Reber string stay. Strings are two symbols shorter: 10 in the mean.

    >>> task = UnmarkedReber()
    >>> block, state = task.block(task.start(seed=0), 24)
    >>> "".join(task.alphabet[symbol] for symbol in block.symbols)
    'PBTXSEPPBTSXSEPPBTXXTVVE'
    """

    name: ClassVar[str] = "unmarked_reber"

    def graph(self) -> Graph:
        """The embedded grammar, its end tied to its beginning."""
        return _embedded("choice")
