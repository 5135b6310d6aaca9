"""Real data sets, one file each, with their licences.

A new file here with a subclass of :class:`Dataset` is a new data set: it is found by its name.
"""

from __future__ import annotations

from tidegate._core.discovery import find, members
from tidegate.datasets.base import Dataset
from tidegate.datasets.i94 import I94

__all__ = ["I94", "Dataset", "load", "names"]


def names() -> list[str]:
    """The names of all data sets.

    >>> "i94" in names()
    True
    """
    return sorted(members("tidegate.datasets", Dataset))  # type: ignore[type-abstract]


def load(name: str, owner: str = "data set") -> Dataset:
    """The data set called ``name``.

    Raises:
        UsageError: there is none; the message names ``owner`` and the nearest.

    >>> load("i94").licence
    'CC BY 4.0'
    """
    return find("tidegate.datasets", Dataset, name, owner)()  # type: ignore[type-abstract]
