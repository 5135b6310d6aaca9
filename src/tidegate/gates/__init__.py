"""The arithmetic of one gate: how long it keeps, where it ends, where its numbers give out."""

from __future__ import annotations

from tidegate.gates.half_life import (
    half_life_from_log_retention,
    half_life_from_preactivation,
    half_life_from_retention,
    half_life_words,
    log_retention_from_half_life,
    log_retention_from_preactivation,
    preactivation_from_half_life,
    preactivation_from_log_retention,
    preactivation_from_retention,
    retention_from_half_life,
    retention_from_preactivation,
)
from tidegate.gates.initial import chrono, for_half_life, for_half_lives, negated
from tidegate.gates.saturation import FORMATS, NumberFormat, format_named
from tidegate.gates.steady_state import (
    driven_memory,
    steady_state,
    steady_state_from_preactivation,
    time_constant,
    time_constant_from_preactivation,
)

__all__ = [
    "FORMATS",
    "NumberFormat",
    "chrono",
    "driven_memory",
    "for_half_life",
    "for_half_lives",
    "format_named",
    "half_life_from_log_retention",
    "half_life_from_preactivation",
    "half_life_from_retention",
    "half_life_words",
    "log_retention_from_half_life",
    "log_retention_from_preactivation",
    "negated",
    "preactivation_from_half_life",
    "preactivation_from_log_retention",
    "preactivation_from_retention",
    "retention_from_half_life",
    "retention_from_preactivation",
    "steady_state",
    "steady_state_from_preactivation",
    "time_constant",
    "time_constant_from_preactivation",
]
