"""What does a step of the forecaster cost, part by part, and does its memory stay as it is?

A step is ``predict`` and ``learn`` of one hourly row with a day and a week in it. Every figure is
the least of many short blocks of processor time, so that other work on the machine counts little.

    python benchmarks/forecaster_step.py                    # microseconds and bytes
    python benchmarks/forecaster_step.py --endless 10000000 # growth of memory over so many steps
    python benchmarks/forecaster_step.py --keys 10000       # memory of so many streams
    python benchmarks/forecaster_step.py --first            # seconds until machine code is made
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from math import pi, sin
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from tidegate import Forecaster, KeyedForecasters

HOUR = 3600.0
TAUGHT, BLOCKS, BLOCK = 1_500, 40, 50
ROWS_OF_KEYS = 24
SHAPES = {
    "default": {},
    "no gated experts": {"units": 0},
    "24 steps ahead": {"horizon": 24},
    "24 steps ahead, no gated experts": {"horizon": 24, "units": 0},
}


def main() -> int:
    """Print the tables, and write the rows where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--endless", type=int, metavar="STEPS", help="instead, memory over so many")
    parser.add_argument("--keys", type=int, metavar="COUNT", help="instead, memory of so many keys")
    parser.add_argument("--first", action="store_true", help="instead, the first use on a computer")
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    options = parser.parse_args()
    if options.keys:
        rows = _keys(options.keys)
    elif options.first:
        rows = _first()
    else:
        rows = _endless(options.endless) if options.endless else _steps() + _parts() + _bytes()
    for row in rows:
        print("  ".join(f"{value:<34}" if isinstance(value, str) else f"{value:,.1f} {unit}"
                        for unit, value in row.items()), flush=True)  # fmt: skip
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
    return 0


class Stream:
    """Hourly values with a day in them, for ever."""

    def __init__(self) -> None:
        self._noise, self.hour = Random(0), 0

    def next(self) -> tuple[float, float]:
        """The next value, and its time."""
        self.hour += 1
        wave = sin(self.hour * 2 * pi / 24)
        return 100 + 50 * wave + self._noise.gauss(0, 10), HOUR * self.hour


def _taught(**settings: Any) -> tuple[Forecaster, Stream]:
    forecaster, stream = Forecaster(**settings), Stream()
    for _ in range(TAUGHT):
        value, time = stream.next()
        forecaster.predict(time)
        forecaster.learn(value, time=time)
    return forecaster, stream


def _steps() -> list[dict[str, Any]]:
    taught = {name: _taught(**settings) for name, settings in SHAPES.items()}
    least = dict.fromkeys(taught, float("inf"))
    for _ in range(BLOCKS):
        for name, (forecaster, stream) in taught.items():
            rows = [stream.next() for _ in range(BLOCK)]
            start = process_time()
            for value, time in rows:
                forecaster.predict(time)
                forecaster.learn(value, time=time)
            least[name] = min(least[name], (process_time() - start) / BLOCK * 1e6)
    return [{"shape": name, "us a step": least[name]} for name in taught]


def _parts() -> list[dict[str, Any]]:
    forecaster, stream = _taught()
    core, (value, time) = forecaster.core, stream.next()
    place = forecaster.timeline.place(time)
    asked = core.ask(place)
    given = [*core.doubts(asked).tolist(), asked.mixed, asked.mixed]
    judge, detector = forecaster.follower.judge, forecaster.follower.detector
    parts: dict[str, Callable[[], object]] = {
        "place in the calendar": lambda: forecaster.timeline.place(time),
        "experts asked": lambda: (core.forget_looked(), core.ask(place)),
        "of which gated": core.gated.predict,
        "experts taught": lambda: core.observe(place, value, asked),
        "of which gated, too": core.gated.learn,
        "interval asked": lambda: judge.widths(given),
        "interval taught": lambda: judge.learn(given, 1.0),
        "alarm": lambda: detector.update(1.0),
    }
    return [{"part": name, "us": _least(part)} for name, part in parts.items()]


def _least(part: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(BLOCKS):
        start = process_time()
        for _ in range(BLOCK):
            part()
        least = min(least, (process_time() - start) / BLOCK * 1e6)
    return least


def _bytes() -> list[dict[str, Any]]:
    return [
        {
            "shape": name,
            "kB a key": sum(a.nbytes for a in _taught(**settings)[0].state().values()) / 1e3,
        }
        for name, settings in SHAPES.items()
    ]


def _endless(steps: int) -> list[dict[str, Any]]:
    forecaster, stream = _taught()
    early, start = _resident(), process_time()
    for _ in range(steps):
        value, time = stream.next()
        forecaster.predict(time)
        forecaster.learn(value, time=time)
    each = (process_time() - start) / steps * 1e6
    return [{"steps": steps, "us a step": each, "kB grown": _resident() - early}]


def _keys(count: int) -> list[dict[str, Any]]:
    """Streams without networks, each with a day of rows, interleaved."""
    keyed, stream = KeyedForecasters(lambda: Forecaster(units=0)), Stream()
    early, start = _resident(), process_time()
    for _ in range(ROWS_OF_KEYS):
        value, time = stream.next()
        for key in range(count):
            keyed.predict(str(key), time)
            keyed.learn(str(key), value + key, time=time)
    each = (process_time() - start) / (count * ROWS_OF_KEYS) * 1e6
    return [{"keys": count, "us a row": each, "kB a key": (_resident() - early) / count}]


FIRST = """
from time import process_time
from tidegate import Forecaster
forecaster, start = Forecaster(), process_time()
for hour in range(48):
    forecaster.learn(float(hour % 24), time=3600.0 * hour)
print(process_time() - start)
"""


def _first() -> list[dict[str, Any]]:
    """In a process that finds no code from before."""
    with TemporaryDirectory() as empty:
        ran = subprocess.run(
            [sys.executable, "-c", FIRST], env=os.environ | {"NUMBA_CACHE_DIR": empty},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return [{"shape": "first rows, no code kept", "seconds": float(ran.stdout)}]


def _resident() -> int:
    """The most memory that the process has held, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
