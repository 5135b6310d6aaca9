"""The text of a cell as a number."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite, nan

Number = Callable[[str], float]

GROUPED = re.compile(r"\s*[+-]?\d{1,3}([.,]\d{3})+\s*")  # thousands, or a decimal: nobody can know

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


def cell_hint(number: Number, text: str, of_target: bool) -> str:
    """What may be behind a cell that is no number; else nothing.

    >>> cell_hint(decimal_point, "rain", of_target=True)
    'Is it a category? tidegate run --categories predicts those.'
    """
    if of_target and not any(letter.isdigit() for letter in text):
        return "Is it a category? tidegate run --categories predicts those."
    return decimal_hint(number, text)


def decimal_hint(number: Number, text: str) -> str:
    """What to say of a cell that would be a number with the other decimal mark; else nothing.

    >>> decimal_hint(decimal_point, "12,5")
    "Is its decimal mark ','? Then read it with --decimal ','."
    >>> decimal_hint(decimal_point, "12,500"), decimal_hint(decimal_point, "x")
    ('', '')
    """
    for mark, other in ((",", decimal_comma), (".", decimal_point)):
        if number is not other and mark in text and not GROUPED.fullmatch(text):
            try:
                other(text)
            except ValueError:
                continue
            return f"Is its decimal mark {mark!r}? Then read it with --decimal {mark!r}."
    return ""
