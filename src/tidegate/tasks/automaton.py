"""A random walk on a finite automaton whose every branch is a fair coin, eight steps at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tidegate._core.errors import DataError
from tidegate.tasks.arrays import Bools, Floats, Symbols

Branches: TypeAlias = tuple[tuple[str, str], ...]
Graph: TypeAlias = Mapping[str, Branches]
Nodes: TypeAlias = npt.NDArray[np.uint8]

_BYTE = 8


@dataclass(frozen=True)
class Automaton:
    """A graph as tables; node 0 is where a string begins.

    Every step uses up one random bit, also where there is nothing to choose: so the walk over
    eight bits depends on the node and the byte alone, and a table of all of them replaces the loop.

    Args:
        following: (nodes, 2) the node after each bit.
        symbols: (nodes, 256, 8) the symbols of the eight steps that a byte decides, lowest bit
            first.
        nodes: (nodes, 256, 8) the nodes after those steps.
        legal: (nodes, alphabet) the symbols that can come next.
        alphabet: the symbols' letters.
    """

    following: Nodes
    symbols: Symbols
    nodes: Nodes
    legal: Bools
    alphabet: str

    @classmethod
    def of(cls, graph: Graph, alphabet: str) -> Automaton:
        """From a graph: node -> one or two (symbol, next node); its first node is the start.

        >>> loop = Automaton.of({"0": (("a", "0"), ("b", "1")), "1": (("a", "0"),)}, "ab")
        >>> loop.walk(0, np.array([0, 1, 0, 1, 1], np.uint8))
        (array([0, 1, 0, 1, 0], dtype=uint8), array([0, 1, 0, 1, 0], dtype=uint8))
        """
        numbers = {name: number for number, name in enumerate(graph)}
        emitted = np.zeros((len(graph), 2), np.uint8)
        following = np.zeros((len(graph), 2), np.uint8)
        legal = np.zeros((len(graph), len(alphabet)), np.bool_)
        for name, branches in graph.items():
            for bit in (0, 1):
                letter, target = branches[bit % len(branches)]
                emitted[numbers[name], bit] = alphabet.index(letter)
                following[numbers[name], bit] = numbers[target]
                legal[numbers[name], alphabet.index(letter)] = True
        return cls(following, *_byte_tables(emitted, following), legal, alphabet)

    def walk(self, node: int, bits: Symbols) -> tuple[Symbols, Nodes]:
        """(steps,) symbols and the nodes after them, from ``node``, as the bits (steps,) decide."""
        codes = np.packbits(bits, bitorder="little")
        before = self._nodes_before(node, codes)
        symbols = self.symbols[before, codes].ravel()[: len(bits)]
        return symbols, self.nodes[before, codes].ravel()[: len(bits)]

    def _nodes_before(self, node: int, codes: Symbols) -> Nodes:
        last = [row.tobytes() for row in self.nodes[:, :, -1]]
        before = bytearray()
        for code in codes.tobytes():
            before.append(node)
            node = last[node][code]
        return np.frombuffer(before, np.uint8)

    def recognise(self, symbols: Symbols) -> Nodes:
        """(steps,) the node after each symbol of a sequence (steps,) that begins at node 0.

        Raises:
            DataError: a symbol that the graph does not allow there.
        """
        allowed = self._successors()
        nodes = bytearray()
        node = 0
        for step, symbol in enumerate(symbols.tolist()):
            if symbol not in allowed[node]:
                known = ", ".join(self.alphabet[code] for code in allowed[node])
                raise DataError(f"symbol {step}", known, f"{symbol}", "Read from a string's start.")
            node = allowed[node][symbol]
            nodes.append(node)
        return np.frombuffer(nodes, np.uint8)

    def _successors(self) -> list[dict[int, int]]:
        pairs = zip(self.symbols[:, :2, 0].tolist(), self.following.tolist(), strict=True)
        return [dict(zip(symbols, nodes, strict=True)) for symbols, nodes in pairs]

    def probabilities(self, nodes: Nodes) -> Floats:
        """(steps, alphabet) of the symbol after each node (steps,): all branches are even."""
        shares: Floats = np.float32(1) / self.legal.sum(axis=1, dtype=np.float32)
        return self.legal[nodes] * shares[nodes, None]


def _byte_tables(emitted: Symbols, following: Nodes) -> tuple[Symbols, Nodes]:
    codes = np.arange(256)
    symbols = np.empty((len(emitted), 256, _BYTE), np.uint8)
    nodes = np.empty_like(symbols)
    now = np.repeat(np.arange(len(emitted))[:, None], 256, axis=1)
    for step in range(_BYTE):
        bits = codes >> step & 1
        symbols[:, :, step] = emitted[now, bits]
        nodes[:, :, step] = now = following[now, bits]
    return symbols, nodes
