"""The text of a cell as a number."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, nan

Number = Callable[[str], float]

# What pandas and R take for missing, and the marks met in published sensor data.
MISSING = {""}.union(
    "na n/a #na #n/a <na> nan -nan null nil none missing ? - -- .".split(),
    "1.#ind -1.#ind 1.#qnan -1.#qnan".split(),
)


def decimal_point(text: str) -> float:
    """A number as most programs write it; NaN for what is missing or infinite.

    Spaces around it do not matter. Digits grouped by underscores are Python's habit, not that of
    data, and are refused.

    Raises:
        ValueError: the text is neither a number nor a mark of a missing value.

    >>> decimal_point(" 12.5 "), decimal_point("1e400"), decimal_point("n/a")
    (12.5, nan, nan)
    """
    try:
        value = float(text)
    except ValueError:
        if text.strip().lower() in MISSING:
            return nan
        raise
    if "_" in text:
        raise ValueError(text)
    return value if isfinite(value) else nan


def decimal_comma(text: str) -> float:
    """The same where the comma is the decimal mark; a point is refused, as it may group digits.

    >>> decimal_comma("12,5")
    12.5
    """
    if "." in text and text.strip().lower() not in MISSING:
        raise ValueError(text)
    return decimal_point(text.replace(",", "."))
