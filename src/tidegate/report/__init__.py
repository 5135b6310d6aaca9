"""What a run's records and Traces show: findings in words and numbers, figures, one page.

Figures by Matplotlib are in :mod:`tidegate.report.figures` (extra ``plots``).
"""

from __future__ import annotations

from tidegate.report.borders import read_borders
from tidegate.report.facts import facts, sentences
from tidegate.report.page import html_page
from tidegate.report.reading import last_steps, read_study
from tidegate.report.study import Stream, Study, stream_of
from tidegate.report.tables import csv_text, json_text, plain_text

__all__ = [
    "Stream",
    "Study",
    "csv_text",
    "facts",
    "html_page",
    "json_text",
    "last_steps",
    "plain_text",
    "read_borders",
    "read_study",
    "sentences",
    "stream_of",
]
