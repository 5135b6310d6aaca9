"""The clock of a stream: when the next row is due, and which periods its times make known."""

from __future__ import annotations

from datetime import datetime, timedelta

from tidegate.streams import parse_time

__all__ = ["Clock"]

DAY = 86_400.0
NAMED_PERIODS = (("day ago", DAY), ("week ago", 7 * DAY))
LONGEST = 604_800  #: steps of a period that is remembered: a week of seconds, 5 MB


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
        self._seconds = 0.0
        self._undated = 0  # rows since the last time

    def observe(self, text: str | None) -> str | None:
        """Take the time of the row that has come; None passes for a step later than the last.

        Returns:
            ``"step"`` when the step has just become known, ``"late"`` for a time that is not
            after the one before (which is then kept), ``"gap"`` for one more than a step and a
            half after it, else None.

        Raises:
            DataError: the time cannot be read.
        """
        if text is None:
            self._undated += 1
            return None
        seconds = parse_time(text)
        if self._text is None:
            return self._take(text, seconds, None)
        rows, apart = self._undated + 1, seconds - self._seconds
        if apart <= 0:
            return "late"
        if self.step is None:
            self.step = apart / rows
            return self._take(text, seconds, "step")
        return self._take(text, seconds, "gap" if apart > (rows + 0.5) * self.step else None)

    def periods(self) -> dict[str, int]:
        """Periods of a whole number of steps, 2 to 604,800, that the clock makes known."""
        if self.step is None:
            return {}
        steps = {name: seconds / self.step for name, seconds in NAMED_PERIODS}
        return {name: round(n) for name, n in steps.items() if _counts(n)}

    def next_time(self) -> str | None:
        """The time of the coming row, written as the last one was; None before it is known."""
        if self.step is None or self._text is None:
            return None
        ahead = (self._undated + 1) * self.step
        try:
            return _written_like(self._text, ahead)
        except (ValueError, OverflowError):
            return repr(self._seconds + ahead)

    def _take(self, text: str, seconds: float, event: str | None) -> str | None:
        self._text, self._seconds, self._undated = text, seconds, 0
        return event


def _counts(steps: float) -> bool:
    return 2 <= steps <= LONGEST and steps == round(steps)


def _written_like(text: str, seconds: float) -> str:
    coming = datetime.fromisoformat(text.strip()) + timedelta(seconds=seconds)
    if len(text.strip()) == len("2015-07-01"):
        return coming.date().isoformat()
    return coming.isoformat(sep=text.strip()[10])
