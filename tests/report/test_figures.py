"""The static figure shows the same numbers as the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tidegate.report import Study

figures = pytest.importorskip("tidegate.report.figures", reason="needs the extra plots")


def test_axes_are_named_and_curves_are_those_of_the_study(study: Study) -> None:
    made = figures.figure(study)
    names = [axes.get_ylabel() for axes in made.axes]
    assert names[:2] == ["target", "unit"]
    spectrum = next(axes for axes in made.axes if axes.get_ylabel() == "half-life in steps")
    between = spectrum.lines[0].get_ydata()
    assert sorted(between, reverse=True) == list(between)
    assert sorted(between) == pytest.approx(sorted(study.half_lives.between_events))


def test_without_stream_or_memory_there_is_still_a_figure(study: Study) -> None:
    trace = replace(study.trace, memory={}, hidden={}, gates={})
    made = figures.figure(Study("", trace), step=300)
    assert all(np.isfinite(axes.get_ylim()).all() for axes in made.axes)
