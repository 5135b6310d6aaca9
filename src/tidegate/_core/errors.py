"""Everything Tidegate raises on purpose, and what a command exits with.

    TidegateError            1   something failed while running
    ├── UsageError           2   an argument or option that cannot be (also a ValueError)
    ├── MissingExtraError    2   an optional package is not installed (also an ImportError)
    ├── DataError            3   a row, a cell or a file that cannot be read (also a ValueError)
    ├── CheckpointError      3   a checkpoint that is damaged, of something else, or unwritable
    └── DivergedError        4   numbers left the range in which anything can be learned

Every message answers four questions: whose, what was expected, what came, what to do.
"""

from __future__ import annotations


class TidegateError(Exception):
    """The root of the tree; its message is built from four parts.

    Args:
        owner: whose requirement it is, as the user wrote it: ``"--units"``, ``"LSTM"``.
        expected: what would have been right, as a noun phrase.
        got: what came instead, as a noun phrase.
        help: what to do about it, as a sentence.

    >>> print(UsageError("--units", "a whole number of at least 1", "0", "Try --units 32."))
    --units: expected a whole number of at least 1, got 0. Try --units 32.
    """

    exit_code = 1

    def __init__(self, owner: str, expected: str, got: str, help: str) -> None:
        self.owner = owner
        self.expected = expected
        self.got = got
        self.help = help
        super().__init__(owner, expected, got, help)

    def __str__(self) -> str:
        return f"{self.owner}: expected {self.expected}, got {self.got}. {self.help}"


class UsageError(TidegateError, ValueError):
    """An argument, option or size that cannot be."""

    exit_code = 2


class MissingExtraError(TidegateError, ImportError):
    """An optional package is needed; the help names the extra that brings it."""

    exit_code = 2


class DataError(TidegateError, ValueError):
    """Input data that cannot be read as what it should be; names file, row, column and value."""

    exit_code = 3


class CheckpointError(TidegateError, ValueError):
    """A checkpoint that is damaged, of something else, or cannot be written."""

    exit_code = 3


class DivergedError(TidegateError, ArithmeticError):
    """A learner's numbers are no longer finite, or can no longer change."""

    exit_code = 4
