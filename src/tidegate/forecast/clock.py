"""The clock of a stream: when the next row is due, and which periods its times make known."""

from __future__ import annotations

from datetime import datetime, timedelta

from tidegate.streams import parse_time

__all__ = ["Clock"]

DAY = 86_400.0
NAMED_PERIODS = (("day ago", DAY), ("week ago", 7 * DAY))


class Clock:
    """Reads the times of rows as they come; the first two tell the step.

    Attributes:
        step: seconds from row to row, None before two rows with a time were seen.

    >>> clock = Clock()
    >>> clock.observe("2015-07-01 00:00:00"), clock.observe("2015-07-01 01:00:00")
    (None, 'step')
    >>> clock.periods()
    {'day ago': 24, 'week ago': 168}
    >>> clock.next_time()
    '2015-07-01 02:00:00'
    """

    def __init__(self) -> None:
        self.step: float | None = None
        self._text: str | None = None
        self._seconds: float | None = None

    def observe(self, text: str | None) -> str | None:
        """Take the time of the row that has come.

        Returns:
            ``"step"`` when the step has just become known, ``"late"`` for a time that is not
            after the one before (which is then kept), ``"gap"`` for one more than a step and a
            half after it, else None.

        Raises:
            DataError: the time cannot be read.
        """
        if text is None:
            return None
        seconds = parse_time(text)
        before, first = self._seconds, self.step is None
        if before is not None and seconds <= before:
            return "late"
        self._text, self._seconds = text, seconds
        if before is None:
            return None
        if first:
            self.step = seconds - before
            return "step"
        return "gap" if seconds - before > 1.5 * self._step() else None

    def periods(self) -> dict[str, int]:
        """Periods of a whole number of steps, at least 2, that the clock makes known."""
        if self.step is None:
            return {}
        steps = {name: seconds / self.step for name, seconds in NAMED_PERIODS}
        return {name: round(n) for name, n in steps.items() if n >= 2 and n == round(n)}

    def next_time(self) -> str | None:
        """The time of the coming row, written as the last one was; None before it is known."""
        if self.step is None or self._text is None or self._seconds is None:
            return None
        try:
            return _written_like(self._text, self.step)
        except ValueError:
            return repr(self._seconds + self.step)

    def _step(self) -> float:
        return self.step or 0.0


def _written_like(text: str, seconds: float) -> str:
    coming = datetime.fromisoformat(text.strip()) + timedelta(seconds=seconds)
    if len(text.strip()) == len("2015-07-01"):
        return coming.date().isoformat()
    return coming.isoformat(sep=text.strip()[10])
