"""Hourly traffic on Interstate 94."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidegate.datasets.base import Dataset
from tidegate.streams import Stream, open_stream


class I94(Dataset):
    """Westbound vehicles an hour on Interstate 94, between Minneapolis and St Paul.

    John Hogue published the counts of the Minnesota Department of Transportation as "Metro
    Interstate Traffic Volume" in the UCI Machine Learning Repository (2019,
    doi:10.24432/C5X60B), under CC BY 4.0. Here they stand on the grid of the clock: 28,512 hours
    from 2015-07-01 00:00 to 2018-09-30 23:00, local time, one row each; the 1,984 hours that
    were not counted are missing. Of the published rows, repeats of an hour and all before July
    2015, where most of a year is missing, were left out, as was the weather.

    >>> stream = I94().stream()
    >>> next(iter(stream))
    Row(number=1, time='2015-07-01 00:00:00', values=array([737.]), key=None, category=None)
    """

    name = "i94"
    title = "Hourly traffic volume on Interstate 94, Minnesota, 2015-07 to 2018-09"
    source = "Hogue, J. (2019), Metro Interstate Traffic Volume, UCI, doi:10.24432/C5X60B"
    licence = "CC BY 4.0"
    columns = ("traffic_volume",)
    target = "traffic_volume"
    time = "time"
    step = 3600.0
    warmup = 2_851

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """The volumes in the order of the clock."""
        file = Path(__file__).with_name("i94.csv.gz")
        return open_stream(str(file), self.target, inputs, self.time)
