"""What a real data set is: where it comes from, what it may be used for, and its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tidegate.streams import Row, Stream


class Dataset(ABC):
    """A real stream with its papers.

    Attributes:
        name: what users write.
        title: what it is, in a line.
        source: where it was published, and by whom.
        licence: what it may be used for.
        columns: names of the columns that hold numbers.
        target: the column to predict.
        time: the column that dates a row.
        step: seconds from one row to the next.
        warmup: steps from the beginning that published figures do not score.

    >>> from tidegate.datasets import load
    >>> load("i94").target
    'traffic_volume'
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    licence: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    target: ClassVar[str]
    time: ClassVar[str]
    step: ClassVar[float]
    warmup: ClassVar[int]

    @abstractmethod
    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """The target and ``inputs``, from the first row on.

        Raises:
            UsageError: there is no such column.
        """

    def rows(self) -> Iterator[Row]:
        """The target alone."""
        return iter(self.stream())
