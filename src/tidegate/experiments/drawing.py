"""Small line drawings as SVG text, black on what is behind them, wide as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Curve", "chart"]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 240, 46, 180, 20, 40
_COLOURS = ("#0b6e99", "#c1440e", "#4d7c0f", "#7c3aed", "#a16207", "#0f766e", "#be185d", "#475569")


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name, and (points,) x and y.

    >>> Curve("f", np.arange(3), np.zeros(3)).name
    'f'
    """

    name: str
    x: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    y: npt.NDArray[np.float64]


def chart(
    curves: Sequence[Curve],
    x_label: str,
    y_label: str,
    marks: Sequence[float] = (),
    letters: Sequence[tuple[float, str]] = (),
    top: float | None = None,
) -> str:
    """Curves over a common x, y from 0 to ``top``.

    Args:
        curves: at least one.
        x_label, y_label: of the axes.
        marks: x of thin upright lines.
        letters: (x, text) written below the axis in place of numbers.
        top: the largest y, that of the curves where it is not given.

    >>> svg = chart([Curve("f", np.arange(3), np.array([0.0, 1.0, 0.5]))], "step", "gate")
    >>> svg.startswith("<svg"), "polyline" in svg
    (True, True)
    """
    xs = np.concatenate([curve.x for curve in curves])
    low, high = float(xs.min()), float(max(xs.max(), xs.min() + 1e-9))
    top = top or max(float(max(curve.y.max() for curve in curves)), 1e-9)

    def across(x: float) -> float:
        return _LEFT + (x - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def up(y: float) -> float:
        return _HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM)

    parts = [_line(across(x), up(0), across(x), up(top), "#999", "2 3") for x in marks]
    parts += [_line(across(low), up(0), across(high), up(0), "#666", "")]
    parts += [_line(across(low), up(0), across(low), up(top), "#666", "")]
    for n, curve in enumerate(curves):
        pairs = zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in pairs)
        colour = _COLOURS[n % len(_COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        parts.append(_text(_WIDTH - _RIGHT + 8, _TOP + 12 + 15 * n, curve.name, colour))
    ends = [(low, f"{low:g}"), (high, f"{high:g}")] if not letters else letters
    parts += [_text(across(x) - 3, _HEIGHT - _BOTTOM + 14, text) for x, text in ends]
    parts += [_text(8, up(top) + 10, f"{top:.3g}"), _text(8, up(0), "0")]
    parts += [_text(_LEFT, _HEIGHT - 6, x_label), _text(_LEFT + 6, _TOP - 8, y_label)]
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
    return start + 'font-family="sans-serif" font-size="11">' + "".join(parts) + "</svg>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}" stroke-dasharray="{dashes}"/>'


def _text(x: float, y: float, text: str, colour: str = "#555") -> str:
    safe = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{safe}</text>'
