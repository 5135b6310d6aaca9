"""What a run's records and Traces show: findings in words and numbers, figures, one page.

Figures by Matplotlib are in :mod:`tidegate.report.figures` (extra ``plots``).
"""

from __future__ import annotations

from tidegate.report.borders import read_borders
from tidegate.report.facts import facts, sentences
from tidegate.report.networks import NetworkMemory, network_memory
from tidegate.report.page import html_page
from tidegate.report.reading import forecast_study, last_steps, read_forecast, read_study
from tidegate.report.stream import Stream, stream_of
from tidegate.report.study import Study
from tidegate.report.tables import csv_text, json_text, plain_text

__all__ = [
    "NetworkMemory",
    "Stream",
    "Study",
    "csv_text",
    "facts",
    "forecast_study",
    "html_page",
    "json_text",
    "last_steps",
    "network_memory",
    "plain_text",
    "read_borders",
    "read_forecast",
    "read_study",
    "sentences",
    "stream_of",
]
