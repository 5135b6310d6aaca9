"""Which columns of a source are meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tidegate._core.errors import UsageError
from tidegate.streams.bad_rows import not_utf8
from tidegate.streams.numbers import decimal_point

SHOWN = 100
COMPARED = 10_000  # among more names the nearest takes too long to find
SEPARATORS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}


def positions(header: Sequence[str], wanted: Sequence[str], source: str) -> list[int]:
    """Where in ``header`` the ``wanted`` names stand.

    Raises:
        UsageError: a name is not there, or stands there twice, or is wanted twice.

    >>> positions(["time", "load", "wind"], ["load", "time"], "a.csv")
    [1, 0]
    """
    places: dict[str, int] = {}
    for place, name in enumerate(header):
        # A name that nobody asks for may stand there as often as it likes.
        places[name] = -1 if name in places else place
    for name in wanted:
        if name not in places:
            raise _unknown(name, header, source)
        if places[name] < 0:
            raise _twice(name, f"column {name!r} of {source}", "Rename one of them.")
        if wanted.count(name) > 1:
            raise _twice(name, f"columns asked of {source}", "Name each column once.")
    return [places[name] for name in wanted]


def _unknown(name: str, header: Sequence[str], source: str) -> UsageError:
    near = difflib.get_close_matches(name, header[:COMPARED], 1)
    if near and len(header) > 1:
        hint = f"Did you mean {near[0]!r}?"
    else:
        hint = _suspicion(header) or (f"Did you mean {near[0]!r}?" if near else "")
    hint = hint or "Write one of these names."
    return UsageError(f"column of {source}", f"one of {_listed(header)}", repr(name), hint)


def _suspicion(header: Sequence[str]) -> str:
    """What is wrong with the header itself, where that shows."""
    if len(header) == 1:
        for separator, shown in SEPARATORS.items():
            if separator in header[0]:
                return f"Are its cells parted by {shown}? Then name it with --separator."
    if all(_is_number(title) for title in header):
        return "The first line holds numbers only: put a line of column names before it."
    if any(map(not_utf8, header)):
        return "Its header is no UTF-8: convert the file."
    return ""


def _twice(name: str, owner: str, hint: str) -> UsageError:
    return UsageError(owner, "each name once", f"{name!r} twice", hint)


def _listed(header: Sequence[str]) -> str:
    more = f" and {len(header) - SHOWN:,} more" if len(header) > SHOWN else ""
    return ", ".join(repr(name) for name in header[:SHOWN]) + more


def _is_number(title: str) -> bool:
    try:
        decimal_point(title)
    except ValueError:
        return False
    return True
