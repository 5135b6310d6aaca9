"""What each unit uses its memory for, with the evidence.

    keeps      its effective half-life is long, and no step loses half
    periodic   its gate repeats itself with one period
    bursts     it keeps between events, and a few steps lose most of what is lost
    filters    its gate is steady at a short half-life, and what it writes is noise
    none       nothing of this is so

The rules are tried in the order keeps, periodic, bursts, filters; the numbers they rest on are
given with the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.gates import half_life_from_log_retention
from tidegate.memory.direct_path import DirectPath, Floats, direct_path

__all__ = ["Evidence", "Pattern", "patterns"]

LEAST_STEPS = 100
LONG = 100.0  #: steps; a half-life from here on is long
REPEATS = 0.5  #: autocorrelation at one and at two periods
FEW = 0.05  #: the share of steps with the largest losses
MOST = 0.5  #: of all that is lost
STEADY = 2.0  #: ratio of the 90 % to the 10 % quantile of log-retention
NOISE = 0.3  #: largest autocorrelation of writes, one step apart, that is noise


@dataclass(frozen=True)
class Evidence:
    """The numbers of one unit that the rules rest on.

    Attributes:
        between_events: half-life from the median log-retention, in steps; inf forever, NaN none.
        effective: half-life from the mean log-retention; NaN too where one step keeps nothing.
        least_kept: smallest |R| of a step.
        loss_in_few: share of the log-loss in the 5 % of steps that lose most. Where steps keep
            nothing, their equally infinite losses are all of it.
        period: of the gate, in steps; 0 where it has none.
        repeats: the gate's autocorrelation at that period.
        spread: 90 % quantile of log-retention over its 10 % quantile (1 is a constant gate).
        write_correlation: of the writes of neighbouring steps.

    >>> evidence = Evidence(693.0, 38.0, 0.01, 0.9, 0, 0.0, 1.2, 0.1)
    >>> evidence.loss_in_few
    0.9
    """

    between_events: float
    effective: float
    least_kept: float
    loss_in_few: float
    period: int
    repeats: float
    spread: float
    write_correlation: float


@dataclass(frozen=True)
class Pattern:
    """One unit's pattern of use.

    Attributes:
        kind: ``keeps``, ``bursts``, ``periodic``, ``filters`` or ``none``.

    >>> Pattern(3, "bursts", Evidence(693.0, 38.0, 0.01, 0.9, 0, 0.0, 1.2, 0.1)).words()[:54]
    'lets go in bursts: half-life 693 steps between events,'
    """

    unit: int
    kind: str
    evidence: Evidence

    def words(self) -> str:
        """The answer as a sentence."""
        e = self.evidence
        effective = "none" if isnan(e.effective) else f"{e.effective:.4g}"
        return {
            "keeps": f"keeps: half-life {e.effective:.4g} steps, no step keeps less than "
            f"{e.least_kept:.0%}",
            "bursts": f"lets go in bursts: half-life {e.between_events:.4g} steps between events, "
            f"{effective} with them; {e.loss_in_few:.0%} of the loss in 5% of the steps",
            "periodic": f"periodic: every {e.period} steps, autocorrelation {e.repeats:.2f}",
            "filters": f"filters noise: steady half-life of {e.effective:.4g} steps, writes "
            f"correlated by {e.write_correlation:.2f}",
            "none": "no pattern",
        }[self.kind]


def patterns(trace: Trace, row: int = 0, memory: str | None = None) -> list[Pattern]:
    """The pattern of every unit in one row of a Trace; steps with a reset are left out.

    Raises:
        UsageError: no such memory, or fewer than 100 steps.

    >>> f = np.where(np.arange(240) % 24 == 0, 0.2, 0.95).reshape(240, 1, 1)
    >>> trace = Trace({"c": np.log(f)}, {"c": np.ones((240, 1, 1))})
    >>> patterns(trace)[0].words()
    'periodic: every 24 steps, autocorrelation 0.90'
    """
    path = direct_path(trace, memory)
    own = ~trace.reset[:, row]
    if own.sum() < LEAST_STEPS:
        raise UsageError(
            "patterns", f"at least {LEAST_STEPS} steps", str(int(own.sum())), "Record more."
        )
    found: list[Pattern] = []
    for unit in range(trace.units):
        evidence = _evidence(path, row, unit, own)
        found.append(Pattern(unit, _kind(evidence), evidence))
    return found


def _kind(e: Evidence) -> str:
    if e.effective >= LONG and e.least_kept > 0.5:
        return "keeps"
    if e.period:
        return "periodic"
    apart = e.between_events >= 2 * e.effective or (e.between_events > 0 and e.least_kept == 0)
    if apart and e.loss_in_few >= MOST and e.least_kept <= 0.5:
        return "bursts"
    short = 1.0 < e.effective < LONG
    if short and e.spread <= STEADY and abs(e.write_correlation) <= NOISE:
        return "filters"
    return "none"


def _evidence(path: DirectPath, row: int, unit: int, own: Floats) -> Evidence:
    kept = path.log_kept[own, row, unit]
    losses = np.sort(-kept)[::-1]
    period, repeats = _period(np.exp(kept))
    return Evidence(
        between_events=float(half_life_from_log_retention(np.median(kept))),
        effective=float(half_life_from_log_retention(kept.mean())),
        least_kept=float(np.exp(kept.min())),
        loss_in_few=_share_of_few(losses),
        period=period,
        repeats=repeats,
        spread=_spread(losses),
        write_correlation=_neighbours(path.write[1:, row, unit][own[1:]]),
    )


def _share_of_few(losses: Floats) -> float:
    """Of the sum of falling ``losses`` in the first of them; infinite ones weigh the same."""
    if np.isposinf(losses[0]):
        losses = np.isposinf(losses).astype(np.float64)
    few = max(1, round(FEW * len(losses)))
    total = losses.sum()
    return float(losses[:few].sum() / total) if total > 0 else 0.0


def _spread(losses: Floats) -> float:
    """90 % over 10 % quantile of falling ``losses``: two of them, for infinities have no middle."""
    tenth = len(losses) // 10
    high, low = float(losses[tenth]), float(losses[-1 - tenth])
    if high == low:
        return 1.0
    return high / low if low > 0 else inf


def _neighbours(writes: Floats) -> float:
    """Correlation of each write with the next."""
    centred = writes - writes.mean()
    size = float((centred * centred).sum())
    return float((centred[1:] * centred[:-1]).sum()) / size if size > 0 else 0.0


def _period(kept: Floats) -> tuple[int, float]:
    """The shortest period whose autocorrelation peaks above ``REPEATS``, also at its double."""
    correlation = _autocorrelation(kept)
    half = len(correlation) // 2
    below = np.flatnonzero(correlation[:half] < REPEATS)
    for lag in range(int(below[0]) if len(below) else half, half):
        peak = correlation[lag] >= max(correlation[lag - 1], correlation[lag + 1])
        if peak and min(correlation[lag], correlation[2 * lag]) >= REPEATS:
            return lag, float(correlation[lag])
    return 0, 0.0


def _autocorrelation(values: Floats) -> Floats:
    """At lags from 0 to half the length; all 0 for a constant."""
    centred = values - values.mean()
    lags = len(values) // 2
    spectrum = np.abs(np.fft.rfft(centred, 2 * len(values))) ** 2
    sums = np.fft.irfft(spectrum)[:lags]
    if centred.std() <= 1e-9 * np.abs(values).max():
        return np.zeros(lags)
    return np.asarray(sums / sums[0])
