"""The grid of a stream: which step a time belongs to, and how many were left out before it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from math import floor
from statistics import median

from tidegate.forecast.model.calendar import calendar_keys
from tidegate.forecast.model.features import Place
from tidegate.forecast.parts import Part

__all__ = ["Grid", "named_periods"]

DAY, WEEK, YEAR = 86_400.0, 604_800.0, 31_556_952.0
MOST_SLOTS = 10_080  #: of a period: the minutes of a week
LONGEST_STEP_OF_DAYS = 86_400.0 * 1.5
MONDAY = datetime(2001, 1, 1)
MONDAY_SECONDS = (MONDAY - datetime(1970, 1, 1)).total_seconds()
MICROSECOND = 1e-6
MOST_PLACED = 256  #: rows to come whose places are kept
ROUNDING = 1e-6  #: slots by which a time may fall short of the slot it begins


def named_periods(step: float) -> tuple[tuple[float, int], ...]:
    """Lengths in seconds, and slots, of the periods that steps of ``step`` seconds can show.

    A day and a week, each in whole slots of about a step; for steps of a week or longer the year.

    >>> named_periods(3600.0)
    ((86400.0, 24), (604800.0, 168))
    >>> named_periods(86400.0), [slots for _, slots in named_periods(2629746.0)]
    (((604800.0, 7),), [12])
    """
    lengths = (DAY, WEEK) if step < WEEK / 2 else (YEAR,)
    slots = [(length, min(round(length / step), MOST_SLOTS)) for length in lengths]
    return tuple((length, count) for length, count in slots if count >= 2)


class Grid(Part):
    """Places rows by the clock, in the time zone in which their stream lives.

    Slots of day and week follow the clock on the wall, through the shifts of daylight saving;
    the steps between two rows follow true time.

    Args:
        step: seconds from row to row.
        zone: of the stream; times without a zone are taken as wall time as they stand.

    >>> grid = Grid(step=3600.0)
    >>> grid.missing_before(grid.seconds(datetime(2024, 1, 1, 5)))
    0
    >>> grid.advance(grid.seconds(datetime(2024, 1, 1, 5)))
    >>> grid.missing_before(grid.seconds(datetime(2024, 1, 1, 9)))
    3
    """

    learned = ("now",)

    def __init__(self, step: float, zone: tzinfo | None = None) -> None:
        self.step, self._zone = step, zone
        self._periods = named_periods(step)
        self._placed: dict[float, Place] = {}  # rows to come, which are asked for again and again
        self._day: int | None = None  # of the last place; rows of one day share its keys
        self._keys = (0, 0)
        self.now = float("nan")

    @property
    def periods(self) -> tuple[int, ...]:
        """Slots of every period, the shortest first."""
        return tuple(slots for _, slots in self._periods)

    @staticmethod
    def seconds(time: datetime) -> float:
        """True seconds since 1970."""
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()

    def missing_before(self, seconds: float) -> int:
        """Steps that were left out since the last row."""
        apart = seconds - self.now  # NaN before the first row
        return max(round(apart / self.step) - 1, 0) if apart > self.step else 0

    def advance(self, seconds: float) -> None:
        """The time of the newest row."""
        self.now, placed = seconds, self._placed
        while placed and (first := next(iter(placed))) <= seconds:
            del placed[first]

    def place(self, seconds: float) -> Place:
        """Where a row of that time stands."""
        place = self._placed.get(seconds)
        if place is None:
            if len(self._placed) >= MOST_PLACED:
                self._placed.clear()
            place = self._placed[seconds] = self._place(seconds)
        return place

    def _place(self, seconds: float) -> Place:
        since = seconds - MONDAY_SECONDS if self._zone is None else self._since(seconds, self._zone)
        slots: tuple[int, ...] = ()
        for length, count in self._periods:
            slots += (floor(since * count / length + ROUNDING),)
        if self.step > LONGEST_STEP_OF_DAYS:
            return Place(slots)
        day = floor((since + MICROSECOND) / DAY)
        if day != self._day:
            self._day, self._keys = day, calendar_keys(MONDAY.date() + timedelta(days=day))
        return Place(slots, self._keys)

    def ahead(self, steps: int) -> float:
        """True seconds of a row so many steps after the newest."""
        return self.now + steps * self.step

    @staticmethod
    def _since(seconds: float, zone: tzinfo) -> float:
        """Seconds since a Monday, on the clock on the wall."""
        wall = datetime.fromtimestamp(seconds, zone).replace(tzinfo=None)
        return (wall - MONDAY).total_seconds()


def usual_step(times: list[float]) -> float | None:
    """The median of the steps between times, or None where there are no two different ones."""
    apart = [b - a for a, b in zip(times, times[1:], strict=False) if b > a]
    return median(apart) if apart else None
