"""The alarms of a run, the newest of them with what is known of each."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Arrays, Part

__all__ = ["AlarmLog", "Raised"]

KEPT = 100


@dataclass(frozen=True)
class Raised:
    """An alarm that was raised: the level of a stream has shifted.

    Attributes:
        step: of the record that carries the flag.
        key: of the stream, where there are several.
        time: of that row.
        began: rows before it at which the shift began.
        size: of the shift, in units of the target.
        surprise: of it, in standard deviations.
        back: whether it takes back the shift before, which so was a blip.

    >>> Raised(step=700, key=None, time=None, began=6, size=3.0, surprise=5.2).words()
    'row 700: level shifted by +3, 6 rows before; 5.2 standard deviations'
    """

    step: int
    key: str | None
    time: str | None
    began: int
    size: float
    surprise: float
    back: bool = False

    def words(self) -> str:
        """As a person is told."""
        when = f" ({self.time})" if self.time else ""
        whose = f" of {self.key}" if self.key is not None else ""
        moved = "back" if self.back else "shifted"
        return (
            f"row {self.step:,}{when}: level{whose} {moved} by {_amount(self.size)}, "
            f"{self.began} rows before; {self.surprise:.1f} standard deviations"
        )


def _amount(size: float) -> str:
    return f"{size:+,.0f}" if 1_000 <= abs(size) < 1e9 else f"{size:+.4g}"


class AlarmLog(Part):
    """Counts alarms and keeps the last hundred.

    Attributes:
        count: of all.
        newest: the last ones, the oldest of them first.

    >>> log = AlarmLog()
    >>> log.add(Raised(700, None, None, 6, 3.0, 5.2))
    >>> log.count, log.newest[-1].step
    (1, 700)
    """

    def __init__(self) -> None:
        self.count = 0
        self.newest: deque[Raised] = deque(maxlen=KEPT)

    def add(self, raised: Raised) -> None:
        """One more."""
        self.count += 1
        self.newest.append(raised)

    def summary(self) -> dict[str, object]:
        """How many, and the newest."""
        return {"count": self.count, "newest": [asdict(raised) for raised in self.newest]}

    def state(self) -> Arrays:
        text = json.dumps(self.summary(), allow_nan=False).encode()
        return {"text": np.frombuffer(text, np.uint8)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        found = json.loads(state["text"].tobytes())
        self.count = int(found["count"])
        self.newest = deque((Raised(**raised) for raised in found["newest"]), maxlen=KEPT)
