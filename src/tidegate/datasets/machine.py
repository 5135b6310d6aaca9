"""Temperature of a machine, every five minutes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tidegate.datasets.base import Dataset
from tidegate.datasets.packages import nab_rows, on_grid, only_target
from tidegate.streams import Stream


class Machine(Dataset):
    """A sensor inside a large machine, with a planned stop and a failure.

    It lies in the folder ``nab`` of ``TIDEGATE_DATA`` (machine_temperature_system_failure.csv).
    """

    name = "machine"
    title = "Temperature of an industrial machine, every five minutes, 2013-12 to 2014-02"
    source = "Numenta Anomaly Benchmark (Ahmad et al. 2017)"
    licence = "MIT (the benchmark)"
    columns = ("temperature",)
    target = "temperature"
    time = "time"
    step = 300.0
    warmup = 2268

    def stream(self, inputs: Sequence[str] = ()) -> Stream:
        """22,683 rows; of the 12 times that stand there twice the first is taken."""
        only_target(self.name, self.target, inputs)
        rows = nab_rows("machine_temperature_system_failure.csv")
        return on_grid(self.name, self.target, rows, timedelta(seconds=self.step))
