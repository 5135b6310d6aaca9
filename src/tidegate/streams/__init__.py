"""Where rows come from, and what is done to them on the way: online, causal, constant memory."""

from __future__ import annotations

from tidegate.streams.bad_rows import BadRows, SkipBadRows, StopAtBadRow, bad_cell, bad_row
from tidegate.streams.base import Row, Stream
from tidegate.streams.files import open_stream
from tidegate.streams.follow import follow_file
from tidegate.streams.numbers import decimal_comma, decimal_point
from tidegate.streams.times import parse_time
from tidegate.streams.transforms import Lags, Standardised, Standardiser

__all__ = [
    "BadRows",
    "Lags",
    "Row",
    "SkipBadRows",
    "Standardised",
    "Standardiser",
    "StopAtBadRow",
    "Stream",
    "bad_cell",
    "bad_row",
    "decimal_comma",
    "decimal_point",
    "follow_file",
    "open_stream",
    "parse_time",
]
