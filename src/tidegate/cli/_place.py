"""How far a run has come in its stream, and that the stream is still the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Self
from zlib import crc32

from tidegate._core.errors import DataError
from tidegate.streams import Row


@dataclass(slots=True)
class Place:
    """The last row that was met.

    Attributes:
        row: its number, 0 before the first.
        digest: of all rows up to it, as a CRC-32.

    >>> import numpy as np
    >>> place = Place()
    >>> place.pass_by(Row(3, None, np.array([5.0])))
    >>> place.row
    3
    """

    row: int = 0
    digest: int = 0

    def pass_by(self, row: Row) -> None:
        """A row that was met."""
        self.row = row.number
        digest = crc32(row.values, self.digest)  # type: ignore[arg-type]
        for text in (row.time, row.key, row.category):
            digest = digest if text is None else crc32(text.encode(), digest)
        self.digest = digest

    def header(self) -> dict[str, int]:
        """As a checkpoint holds it."""
        return asdict(self)

    @classmethod
    def of(cls, header: dict[str, Any]) -> Self:
        """What a checkpoint held."""
        return cls(**{field.name: header[field.name] for field in fields(cls)})


def go_to(place: Place, rows: Iterator[Row], source: str) -> None:
    """Passes over the rows up to ``place``, which must be those that were learned.

    Raises:
        DataError: there are fewer, or others.
    """
    passed = Place()
    while passed.row < place.row:
        row = next(rows, None)
        if row is None:
            raise _changed(source, place, f"an end after row {passed.row}")
        passed.pass_by(row)
    if passed != place:
        raise _changed(source, place, "others")


def _changed(source: str, place: Place, got: str) -> DataError:
    expected = f"the rows up to row {place.row} that were learned"
    hint = "Go on with the file as it was, or start another run in another folder."
    return DataError(source, expected, got, hint)
