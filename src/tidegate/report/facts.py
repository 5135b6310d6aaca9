"""What a study found, as sentences and as numbers that JSON can say."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Any

import numpy as np

from tidegate.gates import half_life_words
from tidegate.memory import gate_use
from tidegate.report.category_stream import CategoryStream
from tidegate.report.study import WITHIN, Study

__all__ = ["SCHEMA", "facts", "sentences", "unit_rows"]

SCHEMA = 1

SHOWN = 4  #: experts named in a sentence
MOST_ALARMS = 8
UNRECORDED = "The memory of its networks was not recorded: tidegate run --trace does that."

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
        "stream": stream_facts(study),
        "networks": network_rows(study),
        "network": study.looked_at or None,
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


def stream_facts(study: Study) -> dict[str, Any] | None:
    """Errors or bits, coverage, mean weights of experts, half-lives at the end, steps with an
    alarm; None without a stream.
    """
    stream = study.stream
    if stream is None:
        return None
    experts = {name: _number(weight) for name, weight in stream.weights.items()}
    lives = {name: _number(steps) for name, steps in _newest_half_lives(study).items()}
    if isinstance(stream, CategoryStream):
        return {
            "bits": _number(stream.loss),
            "entropy": _number(stream.entropy),
            "right": _number(stream.right),
            "experts": experts,
            "half_lives": lives,
        }
    return {
        "mae": _number(stream.mae),
        "persistence": _number(stream.persistence),
        "held": _number(stream.held),
        "experts": experts,
        "half_lives": lives,
        "alarms": list(stream.alarms),
    }


def expert_rows(study: Study) -> list[dict[str, Any]]:
    """One flat row an expert: what it weighed in the forecast on average."""
    weights = {} if study.stream is None else study.stream.weights
    rows = [{"expert": name, "weight": _number(weight)} for name, weight in weights.items()]
    return rows or [{"expert": "", "weight": None}]


def network_rows(study: Study) -> list[dict[str, Any]]:
    """One flat row for each network of a forecaster: half-lives of its median unit."""
    return [
        {
            "network": network.name,
            "weight": network.weight,
            "between_events": _steps(network.between_events),
            "effective": _steps(network.effective),
            "longest": _steps(network.longest),
        }
        for network in study.networks
    ]


def unit_rows(study: Study) -> list[dict[str, Any]]:
    """One flat row a unit: half-lives, pattern, and how its gates are used."""
    if not study.recorded:
        return []
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
    found = [*_forecast(study), _size(study)]
    if not study.recorded:
        return found
    found.append(_half_lives(study))
    if study.patterns:
        kinds = Counter(pattern.kind for pattern in study.patterns)
        found.append(
            "Use of the memory: "
            + ", ".join(f"{kinds[kind]} {words}" for kind, words in KINDS.items() if kinds[kind])
            + f"{_periods(study)}."
        )
    found += [_events(study), *_alignment(study), *_alarms(study)]
    return found


def _forecast(study: Study) -> list[str]:
    """How good a forecaster was, what it rests on, and its alarms."""
    stream = study.stream
    if isinstance(stream, CategoryStream):
        bits = f"{stream.loss:.3g} bits a row; by the frequencies of these rows: "
        right = f"The most probable category came in {100 * stream.right:.1f} % of the rows."
        return [f"{bits}{stream.entropy:.3g}.", right, *_rests_on(study)]
    if stream is None or not stream.experts:
        return []
    error = f"Mean absolute error {stream.mae:.4g}; saying the last value again: "
    found = [f"{error}{stream.persistence:.4g}."]
    if isfinite(stream.held):
        found.append(f"The interval held {100 * stream.held:.1f} % of the values.")
    found += _rests_on(study)
    alarms = [f"{step:,}" for step in stream.alarms]
    more = f" and {len(alarms) - MOST_ALARMS} before" if len(alarms) > MOST_ALARMS else ""
    said = f"Alarms, as the level shifted: at step {', '.join(alarms[-MOST_ALARMS:])}{more}."
    return [*found, said if alarms else "No alarm: the level did not shift."]


def _rests_on(study: Study) -> list[str]:
    """What weighed most, and how long the networks remembered at the end."""
    if study.stream is None:
        return []
    first = [f"{n} {100 * w:.0f} %" for n, w in list(study.stream.weights.items())[:SHOWN]]
    said = [f"What weighed most in the forecast: {', '.join(first)}."]
    lives = [f"{n} {h:.3g}" for n, h in _newest_half_lives(study).items() if isfinite(h)]
    if lives:
        said.append(f"Half-life in the middle of each network, in steps: {', '.join(lives)}.")
    return said


def _newest_half_lives(study: Study) -> dict[str, float]:
    found = {} if study.stream is None else study.stream.half_lives
    return {name: float(steps[-1]) for name, steps in found.items()}


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _size(study: Study) -> str:
    count, units, start = study.trace.steps, len(study.units), study.start
    last = start + count - 1
    if not study.recorded:
        return f"{count:,} steps: {start:,} to {last:,}. {UNRECORDED}"
    whose = f" of {study.trace.meta.cell}" if study.trace.meta.cell else ""
    noun = "unit" if units == 1 else "units"
    whose += f" in the network “{study.looked_at}”" if study.looked_at else ""
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
