"""Random numbers with an address: a seed and a position, and nothing to be kept in between."""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from tidegate._core.errors import UsageError
from tidegate.tasks.arrays import Symbols

_WORDS_PER_COUNT = 4
_WORD = 64


def checked_seed(seed: int) -> int:
    """``seed`` as a plain whole number that fits a signed 64-bit field of a checkpoint.

    Raises:
        UsageError: it does not.
    """
    if not 0 <= operator.index(seed) < 2**63:
        raise UsageError("seed", "a whole number from 0 to 2^63 - 1", f"{seed}", "Try 0.")
    return operator.index(seed)


def random_words(seed: int, first: int, count: int) -> npt.NDArray[np.uint64]:
    """Random 64-bit words ``first`` .. ``first + count - 1`` of the endless sequence ``seed``.

    Philox is counter-based, so any part is reached at once and the words do not depend on how
    they are asked for (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").

    >>> bool((random_words(7, 0, 9)[5:] == random_words(7, 5, 4)).all())
    True
    """
    counter, skipped = divmod(first, _WORDS_PER_COUNT)
    words = np.random.Philox(key=seed, counter=counter).random_raw(skipped + count)
    return words[skipped:]


def random_bits(seed: int, first: int, count: int) -> Symbols:
    """(count,) fair bits ``first`` .. ``first + count - 1`` of the endless sequence ``seed``.

    >>> random_bits(7, 0, 8).tolist(), random_bits(7, 3, 5).tolist()
    ([0, 0, 1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 1])
    """
    word, skipped = divmod(first, _WORD)
    words = random_words(seed, word, -(-(skipped + count) // _WORD))
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, count=skipped + count, bitorder="little")[skipped:]
