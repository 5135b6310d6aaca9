"""Half-hourly taxi passengers in New York."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import nab_rows, on_grid, only_target
from tidegate.streams import Stream


class Taxi(Dataset):
    """Passengers of New York taxis every half hour: marathon, Thanksgiving, Christmas, a blizzard.

    It lies in the folder ``nab`` of ``TIDEGATE_DATA`` (nyc_taxi.csv of realKnownCause).
    """

    name = "taxi"
    title = "Half-hourly taxi passengers, New York City, 2014-07 to 2015-01"
    source = (
        "NYC Taxi and Limousine Commission, in the Numenta Anomaly Benchmark (Ahmad et al. 2017)"
    )
    licence = "MIT (the benchmark)"
    columns = ("passengers",)
    target = "passengers"
    time = "time"
    step = 1800.0
    warmup = 1032

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """All 10,320 half hours, none missing."""
        only_target(self.name, self.target, inputs)
        rows = nab_rows("nyc_taxi.csv")
        return on_grid(self.name, self.target, rows, timedelta(seconds=self.step))
