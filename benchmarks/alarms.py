"""Does the alarm find every shift, once, and stay quiet where there is none?

A shift of two marginal standard deviations after 2,000 quiet steps, in independent noise and in
autoregressive noise of carry .9: found within 100 steps, and how many alarms in the 400 steps after
it. Then noise alone: false alarms in 10^4 steps. Fresh seeds: no setting was chosen on them.
river's detectors take part where river is installed.

    python benchmarks/alarms.py                  # the detector alone, 500 trials, 10^6 steps
    python benchmarks/alarms.py --forecaster     # through the whole Forecaster(units=0)
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast import Forecaster, ShiftDetector

Floats = NDArray[np.float64]
Detector = Callable[[float], bool]

QUIET, AFTER, LIMIT, SIZE = 2_000, 400, 100, 2.0
CARRIES = {"independent": 0.0, "AR(0.9)": 0.9}
WARMUP, STRETCH = 2_000, 20_000  #: steps of a stretch of noise; its beginning is not counted


def noise(steps: int, carry: float, seed: int) -> Floats:
    """Autoregressive noise of standard deviation 1."""
    rng = np.random.default_rng(seed)
    fresh, values = rng.normal(size=steps) * np.sqrt(1 - carry**2), np.empty(steps)
    last = rng.normal()
    for step in range(steps):
        last = values[step] = carry * last + fresh[step]
    return values


def detector() -> Detector:
    """Ours alone."""
    one = ShiftDetector()
    return lambda value: one.update(value) is not None


def forecaster() -> Detector:
    """Ours inside a forecaster without networks."""
    one = Forecaster(units=0)
    return lambda value: one.learn(value).shift is not None


def of_river(name: str) -> Callable[[], Detector]:
    """One of river's, as it comes."""

    def made() -> Detector:
        from river import drift

        one = getattr(drift, name)()

        def update(value: float) -> bool:
            one.update(value)
            return bool(one.drift_detected)

        return update

    return made


def measured(make: Callable[[], Detector], carry: float, trials: int, steps: int) -> dict[str, Any]:
    """Shifts found in time, alarms for each, delay, and false alarms in 10^4 steps."""
    found, alarms, delays = 0, 0, []
    for trial in range(trials):
        values = noise(QUIET + AFTER, carry, seed=700_000 + trial)
        values[QUIET:] += SIZE if trial % 2 else -SIZE
        update = make()
        late = [n - QUIET for n, value in enumerate(values.tolist()) if update(value)]
        late = [delay for delay in late if delay >= 0]
        if late and late[0] < LIMIT:
            found += 1
            delays.append(late[0] + 1)
        alarms += len(late)
    false, quiet = 0, 0
    for stretch in range(max(steps // STRETCH, 1)):
        update = make()
        heard = [update(v) for v in noise(WARMUP + STRETCH, carry, 900_000 + stretch).tolist()]
        false += sum(heard[WARMUP:])
        quiet += STRETCH
    return {
        "trials": trials,
        "found": found / trials,
        "alarms_per_shift": alarms / trials,
        "median_delay": float(np.median(delays)) if delays else None,
        "quiet_steps": quiet,
        "false_per_10000": 1e4 * false / quiet,
    }


def main() -> int:
    """Print the table; the exit code tells whether ours holds what it promises."""
    options = _options()
    makers: dict[str, Callable[[], Detector]] = {"ShiftDetector": detector}
    if options.forecaster:
        makers = {"Forecaster": forecaster}
    elif find_spec("river"):
        makers |= {f"river {n}": of_river(n) for n in ("ADWIN", "PageHinkley", "KSWIN")}
    else:
        print("river: left out. Install it: pip install river", file=sys.stderr)
    rows, kept = [], True
    for name, make in makers.items():
        for label, carry in CARRIES.items():
            steps = options.steps if "KSWIN" not in name else min(options.steps, 2 * STRETCH)
            row = measured(make, carry, options.trials, steps)
            rows.append({"detector": name, "noise": label, **row})
            _show(rows[-1])
            ours = not name.startswith("river")
            kept &= not ours or (row["found"] >= 0.95 and row["false_per_10000"] <= 1)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
    return 0 if kept else 5


def _show(row: dict[str, Any]) -> None:
    delay = "-" if row["median_delay"] is None else f"{row['median_delay']:.0f}"
    print(
        f"{row['detector']:18} {row['noise']:12} found {row['found']:.3f} of {row['trials']} "
        f"(median after {delay}), {row['alarms_per_shift']:.2f} alarms each; "
        f"{row['false_per_10000']:.2f} false in 10^4 ({row['quiet_steps']:,} steps)",
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=500, help="of each kind of noise")
    parser.add_argument("--steps", type=int, default=500_000, help="of each kind of noise alone")
    parser.add_argument("--forecaster", action="store_true", help="through the whole forecaster")
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
