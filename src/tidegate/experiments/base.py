"""What an experiment is: rows of a table, and how one trial of a row is carried out.

One experiment is one file of this folder; nothing else lists them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tidegate.experiments.claims import Claim, Nothing

__all__ = ["Experiment", "Figure", "Row", "Trial"]


@dataclass(frozen=True)
class Trial:
    """What one trial came to.

    Attributes:
        solved: whether the row's criterion was met.
        symbols: learned until solved, or in all where it was not.
        streams: training streams (or sequences) until then; None where there are none.
        retest: whether the net passed a second, fresh test; None where it did not come to it.
        error_free: whether it made no error in the next 10^6 symbols while still learning; None
            where it did not come to it.
        measure: a number of the experiment's own, named by its ``measure``.

    >>> Trial(solved=True, symbols=7000).streams is None
    True
    """

    solved: bool
    symbols: int
    streams: int | None = None
    retest: bool | None = None
    error_free: bool | None = None
    measure: float | None = None


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        name: what users type and records say.
        label: what the table says.
        published: the figures as printed, with where; empty where there are none.
        claim: what our trials are held against.
        stands: whether a claim that fails is an error (exit code 5). False where it is known not
            to be reproduced, and ``note`` says why.
        note: how our setting differs, or the likely reason for another result.

    >>> Row("forget", "forget gates").published
    ''
    """

    name: str
    label: str
    published: str = ""
    claim: Claim = field(default_factory=Nothing)
    stands: bool = True
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing for the experiment's page, as SVG text.

    >>> Figure("gate", "The forget gate.", "<svg/>").name
    'gate'
    """

    name: str
    caption: str
    svg: str


class Experiment(ABC):
    """A published claim, or one of ours, that can be run again.

    Attributes:
        name: what users type after ``tidegate reproduce``.
        title: one line.
        source: paper, section, table.
        protocol: what is done, in full sentences.
        criterion: when a trial is solved.
        unit: what the budget counts, in the plural.
        budget: of one trial.
        trials: of each row, by default.
        quick: (trials, budget) of a first look that takes about a minute.
        measure: what ``Trial.measure`` is; empty where there is none.
        picture: the task, drawn in plain text.
        wanting: what did not reproduce, and what is not done; full sentences.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    protocol: ClassVar[str]
    criterion: ClassVar[str]
    unit: ClassVar[str] = "symbols"
    budget: ClassVar[int]
    trials: ClassVar[int] = 20
    quick: ClassVar[tuple[int, int]]
    measure: ClassVar[str] = ""
    picture: ClassVar[str] = ""
    wanting: ClassVar[str] = ""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The rows of the table, in order."""

    @abstractmethod
    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One trial of a row; the same seed gives the same trial, wherever it runs."""

    def figures(self, seed: int) -> Sequence[Figure]:
        """Drawings for the page that need a net of their own to be trained; none by default."""
        return ()
