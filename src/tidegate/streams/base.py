"""What a stream is: rows in the order of time, perhaps without end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True, eq=False)
class Row:
    """One step of a stream.

    Attributes:
        number: 1-based row of data in its source; rows that were passed over are counted.
        time: the text of the time column as it stood, or None.
        values: float64 (column), the target first; NaN where a value is missing.
        key: of the stream the row belongs to, where a source holds several.
        category: the text of the column of categories, where a source has one; None where it is
            missing.

    >>> row = Row(1, "2015-07-01 00:00:00", np.array([5545.0, np.nan]))
    >>> float(row.values[0])
    5545.0
    """

    number: int
    time: str | None
    values: NDArray[np.float64]
    key: str | None = None
    category: str | None = None


class Stream(ABC):
    """Rows of a source, read once, in constant memory; the iteration may never end.

    Attributes:
        source: the source's name in messages.
        columns: names of the values of a row, the target first.

    >>> class Clock(Stream):
    ...     source, columns = "clock", ("tick",)
    ...     def __iter__(self):
    ...         yield Row(1, None, np.array([1.0]))
    >>> [row.number for row in Clock()]
    [1]
    """

    source: str
    columns: tuple[str, ...]

    @abstractmethod
    def __iter__(self) -> Iterator[Row]:
        """The rows that have not been read yet.

        Raises:
            DataError: the source breaks off, or holds a row that cannot be read.
        """
