"""What a study found, as sentences and as numbers that JSON can say."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Any

import numpy as np

from tidegate.gates import half_life_words
from tidegate.memory import gate_use
from tidegate.report.study import WITHIN, Study

__all__ = ["SCHEMA", "facts", "sentences", "unit_rows"]

SCHEMA = 1

KINDS = {
    "keeps": "keep",
    "periodic": "repeat with a period",
    "bursts": "let go in bursts",
    "filters": "filter noise",
    "none": "show no pattern",
}


def facts(study: Study) -> dict[str, Any]:
    """All findings; half-lives that are no number are words (``forever``, ``grows``, ``none``).

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> found = facts(Study("demo", Trace({"c": np.full((200, 1, 1), np.log(0.9))})))
    >>> round(found["units"][0]["effective"], 4), found["events"]
    (6.5788, [])
    """
    meta = study.trace.meta
    return {
        "schema": SCHEMA,
        "title": study.title,
        "cell": meta.cell,
        "memory": study.memory,
        "first_step": study.start,
        "steps": study.trace.steps,
        "units": unit_rows(study),
        "events": [{"step": e.step, "score": e.score, "excess": e.excess} for e in study.events],
        "borders": list(study.borders),
        "alignment": alignment_facts(study),
        "alarms": [
            {
                "kind": a.kind,
                "unit": study.units[a.unit],
                "first": study.start + a.first,
                "last": study.start + a.last,
                "healed": a.healed,
                "advice": a.advice,
            }
            for a in study.alarms
        ],
    }


def alignment_facts(study: Study) -> dict[str, Any] | None:
    """How well events and borders meet, without the shifted values; None where none can."""
    found = study.alignment
    if found is None:
        return None
    numbers = {name: getattr(found, name) for name in ("precision", "recall", "f1", "p_value")}
    return {"within": WITHIN, **numbers, "shifted_f1": float(found.shifted.mean())}


def unit_rows(study: Study) -> list[dict[str, Any]]:
    """One flat row a unit: half-lives, pattern, and how its gates are used."""
    found, use = study.half_lives, gate_use(study.trace)
    rows: list[dict[str, Any]] = []
    for place, unit in enumerate(study.units):
        kept = study.log_kept[:, place]
        row: dict[str, Any] = {
            "unit": unit,
            "between_events": _steps(found.median[place]),
            "effective": _steps(found.mean[place]),
            "least_kept": float(np.exp(kept.min())),
        }
        if study.patterns:
            pattern = study.patterns[place]
            row |= {"pattern": pattern.kind, "evidence": pattern.words()}
        for name in study.trace.gates:
            row[f"{name}_closed"] = float(use.closed[name][place])
            row[f"{name}_open"] = float(use.open[name][place])
        rows.append(row)
    return rows


def sentences(study: Study) -> list[str]:
    """What a person would want to know first, one finding a sentence.

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> sentences(Study("demo", Trace({"c": np.full((50, 1, 1), np.log(0.5))})))[-1]
    'No forget event: the gates close no more than they usually do.'
    """
    found = [_size(study), _half_lives(study)]
    if study.patterns:
        kinds = Counter(pattern.kind for pattern in study.patterns)
        found.append(
            "Use of the memory: "
            + ", ".join(f"{kinds[kind]} {words}" for kind, words in KINDS.items() if kinds[kind])
            + f"{_periods(study)}."
        )
    found += [_events(study), *_alignment(study), *_alarms(study)]
    return found


def _size(study: Study) -> str:
    count, units, start = study.trace.steps, len(study.units), study.start
    last = start + count - 1
    whose = f" of {study.trace.meta.cell}" if study.trace.meta.cell else ""
    noun = "unit" if units == 1 else "units"
    return f"{units} {noun}{whose}, {count:,} steps: {start:,} to {last:,}."


def _half_lives(study: Study) -> str:
    lives = study.half_lives
    low, middle, high = np.quantile(lives.median, [0.0, 0.5, 1.0], method="nearest")
    effective = np.quantile(lives.mean, 0.5, method="nearest")
    return (
        f"Half-life between events: {_words(middle)} in the middle, from {_words(low)} to "
        f"{_words(high)}; effectively, with the events, {_words(effective)} in the middle."
    )


def _periods(study: Study) -> str:
    """The periods of the units that have one, the most frequent first."""
    periods = Counter(p.evidence.period for p in study.patterns if p.kind == "periodic")
    if not periods:
        return ""
    said = [f"{period:,} steps in {count}" for period, count in periods.most_common(3)]
    return f"; the period is {', '.join(said)}"


def _events(study: Study) -> str:
    events = study.events
    if not events:
        return "No forget event: the gates close no more than they usually do."
    gap = study.trace.steps / len(events)
    return f"{len(events):,} forget events, one in {gap:.3g} steps."


def _alignment(study: Study) -> list[str]:
    found = study.alignment
    if found is None:
        return ["No event or no border within these steps."] if study.borders else []
    verdict = "beyond chance" if found.p_value <= 0.05 else "no more than chance would"
    return [
        f"Events meet the {len(study.borders):,} borders given, within {WITHIN} steps, with "
        f"precision {found.precision:.2f} and recall {found.recall:.2f} (F1 {found.f1:.2f}; "
        f"borders shifted: {found.shifted.mean():.2f}; p = {found.p_value:.3g}): {verdict}."
    ]


def _alarms(study: Study) -> list[str]:
    lasting = [alarm for alarm in study.alarms if not alarm.healed]
    said: list[str] = []
    for kind in dict.fromkeys(alarm.kind for alarm in lasting):
        units = sorted({study.units[a.unit] for a in lasting if a.kind == kind})
        advice = next(a.advice for a in lasting if a.kind == kind)
        said.append(f"Alarm, {kind}: unit {', '.join(map(str, units))}. {advice}")
    return said


def _words(log_retention: float) -> str:
    return half_life_words(float(log_retention))


def _steps(log_retention: float) -> float | str:
    """A number of steps, or the word where it is none."""
    words = half_life_words(float(log_retention))
    steps = np.log(2.0) / -log_retention if words.endswith("steps") else float("nan")
    return float(steps) if isfinite(steps) else words
