"""Reading a memory from a Trace: how long it keeps, what it holds, when it lets go."""

from __future__ import annotations

from tidegate.memory.age import MemoryAge, memory_age
from tidegate.memory.alignment import Alignment, align
from tidegate.memory.averages import EventAverage, event_average
from tidegate.memory.balance import Balance, balance
from tidegate.memory.closed_loop import ClosedLoop
from tidegate.memory.direct_path import DirectPath, direct_path
from tidegate.memory.events import Event, EventDetector, events_of, forget_events
from tidegate.memory.forgetting import (
    ForgetScore,
    closing,
    forget_score,
    halvings,
    loss,
    mean_closing,
)
from tidegate.memory.half_lives import HalfLives, half_lives
from tidegate.memory.highway import Highway, direct_product, highway
from tidegate.memory.patterns import Evidence, Pattern, patterns
from tidegate.memory.retention_curve import RetentionCurve, retention_curve
from tidegate.memory.running import RunningMoments
from tidegate.memory.saturation import (
    Alarm,
    GateUse,
    alarms,
    gate_use,
    no_slope,
    stuck,
    tanh_slope,
)
from tidegate.memory.segmentation import HardResets, hard_resets
from tidegate.memory.stability import (
    DirectStability,
    LoopStability,
    direct_stability,
    loop_stability,
)

__all__ = [
    "Alarm",
    "Alignment",
    "Balance",
    "ClosedLoop",
    "DirectPath",
    "DirectStability",
    "Event",
    "EventAverage",
    "EventDetector",
    "Evidence",
    "ForgetScore",
    "GateUse",
    "HalfLives",
    "HardResets",
    "Highway",
    "LoopStability",
    "MemoryAge",
    "Pattern",
    "RetentionCurve",
    "RunningMoments",
    "alarms",
    "align",
    "balance",
    "closing",
    "direct_path",
    "direct_product",
    "direct_stability",
    "event_average",
    "events_of",
    "forget_events",
    "forget_score",
    "gate_use",
    "half_lives",
    "halvings",
    "hard_resets",
    "highway",
    "loop_stability",
    "loss",
    "mean_closing",
    "memory_age",
    "no_slope",
    "patterns",
    "retention_curve",
    "stuck",
    "tanh_slope",
]
