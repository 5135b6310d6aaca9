"""What batch code is told, word by word: sizes, addresses and functions, under names.

Offsets in tables count numbers. A *blocked* array has its units in blocks of 64 bytes: (blocks,
rows, block), so that a tile reads and writes whole blocks of consecutive rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidegate.kernels.code.calls import Argument, address_in, call, called
from tidegate.kernels.code.emit import Emitter, Index, Reals, Words
from tidegate.kernels.code.vector import LLVM

__all__ = ["NAMES", "POSITION", "TOLD", "Sheet", "call_known"]

TOLD = (
    "x", "weights_input", "weights_hidden", "weights_bias", "weights_unit", "second_bias",
    "hidden0", "memory0", "state", "memory", "memory_mask", "saved", "shown", "last_hidden",
    "last_memory", "flags", "output", "memory_after", "keep", "show", "d_output", "d_last_hidden",
    "d_last_memory", "d_x", "d_input", "d_hidden", "d_bias", "d_unit", "d_hidden0", "d_memory0",
)  # fmt: skip
"""What every call says anew: arrays of the caller, or 0, and what is kept."""
_SIZES = (
    "steps", "rows", "first_row", "end_row", "inputs", "units", "blocks", "hiddens", "kept",
    "reverse", "chunk", "staged", "input_slots", "hidden_slots", "second_slots", "direct",
    "sources", "gates", "biased", "saved_rows", "input_blocks", "share", "shares",
)  # fmt: skip
_FIXED = (
    "packs", "pack_count", "nowhere", "pointwise", "gate", "normalise_first",
    "normalise_second", "second_gate", "state_start", "memory_start", "input_stride",
    "hidden_table", "second_table", "second_counts", "input_table", "ring_stride",
    "pointwise_back", "gate_back", "normalise_back_first", "normalise_back_second", "jobs",
    "job_count", "source_targets",
)  # fmt: skip
_SCRATCH = (
    "packed_input", "packed_hidden", "packed_second", "from_input", "from_hidden", "from_second",
    "gated", "normal", "spread", "bias", "unit", "back_hidden", "back_second", "back_input",
    "carry", "stash", "ring", "d_gated", "gated_ring", "d_x_blocks", "parts", "part_sums",
)  # fmt: skip

NAMES = (*TOLD, *_SIZES, *_FIXED, *_SCRATCH)
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

    def word(self, position: Index) -> Reals:
        """The numbers at the address in a word whose position is only known at run time."""
        return address_in(self.words, position).reals(0, self.code.precision)

    def block(self, array: str, number: Index) -> Index:
        """Where a block of ``state`` or ``memory`` lies: memories may go round in two of them."""
        return number & self.index("memory_mask") if array == "memory" else number

    def table(self, name: str) -> Words:
        """The words at an address."""
        return Words(self.code.builder, self.reals(name).pointer)

    def function(self, name: str, arguments: Iterable[type[Any]]) -> LLVM:
        """The function at an address."""
        return called(self.code, self.words, POSITION[name], arguments)


def call_known(
    code: Emitter, sheet: Sheet, name: str, kinds: Iterable[type[Any]], given: Iterable[Argument]
) -> None:
    """Call a function of the cell where it has one."""
    with code.when(sheet.index(name) >= 1):
        call(code, sheet.function(name, kinds), given)
