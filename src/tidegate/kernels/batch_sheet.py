"""What batch code is told, word by word: sizes, addresses and functions, under names.

Offsets in tables count numbers. A *blocked* array has its units in blocks of 64 bytes: (blocks,
rows, block), so that a tile reads and writes whole blocks of consecutive rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidegate.kernels.calls import called
from tidegate.kernels.emit import Emitter, Index, Reals, Words
from tidegate.kernels.vector import LLVM

__all__ = ["NAMES", "POSITION", "Sheet"]

_SIZES = (
    "steps", "rows", "first_row", "end_row", "inputs", "units", "blocks", "hiddens", "kept",
    "reverse", "chunk", "keep", "show", "flags", "two_products", "input_slots", "hidden_slots",
    "second_slots", "carried", "sources",
)  # fmt: skip
_FORWARD = (
    "x", "state", "memory", "output", "memory_after", "state_start", "memory_start",
    "packed_input", "packed_hidden", "packed_second", "from_input", "input_stride", "from_hidden",
    "hidden_stride", "from_second", "gated", "second_gate", "bias", "unit", "saved", "shown",
    "normal", "spread", "nowhere", "pointwise", "gate", "normalise_first", "normalise_second",
)  # fmt: skip
_BACKWARD = (
    "d_output", "back_hidden", "back_second", "back_input", "carry", "stash", "ring",
    "ring_stride", "hidden_table", "second_table", "second_counts", "gates", "input_table",
    "d_gated", "gated_ring", "pointwise_back", "gate_back", "normalise_back_first",
    "normalise_back_second", "d_x", "d_x_blocks", "input_blocks", "jobs", "job_count", "parts",
    "part_sums", "sums", "share", "shares",
)  # fmt: skip

NAMES = (*_SIZES, *_FORWARD, *_BACKWARD)
POSITION = {name: k for k, name in enumerate(NAMES)}


class Sheet:
    """The words, by name, as values of the code."""

    def __init__(self, code: Emitter, words: Words) -> None:
        self.code, self.words = code, words

    def index(self, name: str) -> Index:
        """A size or a stride."""
        return self.words.index(POSITION[name])

    def reals(self, name: str) -> Reals:
        """The numbers at an address."""
        return self.words.reals(POSITION[name], self.code.precision)

    def table(self, name: str) -> Words:
        """The words at an address."""
        return Words(self.code.builder, self.reals(name).pointer)

    def function(self, name: str, arguments: Iterable[type[Any]]) -> LLVM:
        """The function at an address."""
        return called(self.code, self.words, POSITION[name], arguments)
