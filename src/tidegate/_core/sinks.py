"""What recorders write to: a file, or standard output, as bytes."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO, Protocol

from tidegate._core.errors import UsageError

STDOUT = "-"


class Sink(Protocol):
    """What a recorder needs of the file it writes to."""

    def write(self, data: bytes, /) -> object:
        """Takes the bytes."""

    def flush(self) -> object:
        """Sends on what was taken."""

    def sync(self) -> object:
        """What was taken outlives a power cut."""

    def close(self) -> object:
        """Nothing more will come."""


class StandardOutput:
    """Standard output as a file that stays open when its recorder is closed."""

    closed = False

    def write(self, data: bytes, /) -> int:
        """Takes the bytes."""
        return sys.stdout.buffer.write(data)

    def flush(self) -> None:
        """Sends on what was taken."""
        sys.stdout.buffer.flush()

    def sync(self) -> None:
        """What reads it keeps it, or not."""
        self.flush()

    def close(self) -> None:
        """Others may still write to it."""
        self.flush()


class OutputFile:
    """An open file, written from where it stands."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @property
    def closed(self) -> bool:
        """Whether it takes no more; pyarrow asks."""
        return self._file.closed

    def write(self, data: bytes, /) -> int:
        """Takes the bytes."""
        return self._file.write(data)

    def flush(self) -> None:
        """Sends on what was taken."""
        self._file.flush()

    def sync(self) -> None:
        """On the disk; what is no file on a disk has nothing to sync."""
        self._file.flush()
        if os.path.isfile(self._file.name):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def sink_for(out: str) -> Sink:
    """The file ``out``, emptied, or standard output for ``-``.

    Raises:
        UsageError: the file cannot be written.
    """
    if out == STDOUT:
        return StandardOutput()
    try:
        return OutputFile(open(out, "wb"))
    except OSError as error:
        hint = "Check the folder and its permissions."
        raise UsageError(out, "a file that can be written", str(error.strerror), hint) from error
