"""A study as one static figure (extra ``plots``: Matplotlib)."""

from __future__ import annotations

import numpy as np

from tidegate._core.decimation import decimate
from tidegate._core.errors import MissingExtraError
from tidegate.memory import memory_age, retention_curve
from tidegate.report.category_stream import CategoryStream
from tidegate.report.study import Study

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec
    from matplotlib.ticker import FuncFormatter
except ImportError as error:
    raise MissingExtraError(
        "tidegate.report.figures", "the package matplotlib", "none", "pip install tidegate[plots]"
    ) from error

__all__ = ["figure"]

BLUE, ORANGE, GREEN, GREY, RED = "#0072b2", "#b34700", "#00795c", "#5a6875", "#c8102e"
SHARES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#9aa5b1")
COLUMNS = 1_000  #: buckets of the map
LONGEST = 200  #: steps of the curves


def figure(study: Study, step: int | None = None) -> Figure:
    """Stream, map, half-lives, forget score, and what is kept and held at one step.

    Args:
        step: number of the step that is looked at; by default that of the last event.

    >>> from tidegate._core.trace import Trace
    >>> kept = np.full((300, 1, 2), np.log(0.9))
    >>> made = figure(Study("demo", Trace({"c": kept}, {"c": np.ones(kept.shape)})))
    >>> [axes.get_ylabel() for axes in made.axes][:2]
    ['unit', 'share kept per step, least']
    """
    at = study.start + study.trace.steps // 2 if step is None else step
    if step is None and study.events:
        at = study.events[-1].step
    mixed = study.stream is not None and bool(study.stream.experts)
    top = (study.stream is not None) + mixed
    rows = top + 3 * study.recorded
    made = Figure(figsize=(11, 2.9 * rows), layout="constrained")
    made.suptitle(study.title)
    grid = made.add_gridspec(rows, 2)
    if study.stream is not None:
        _stream(made.add_subplot(grid[0, :]), study)
    if mixed:
        _experts(made.add_subplot(grid[1, :]), study)
    if study.recorded:
        _network(made, grid, top, study, at)
    return made


def _network(made: Figure, grid: GridSpec, top: int, study: Study, at: int) -> None:
    _map(made, made.add_subplot(grid[top, :]), study)
    _spectrum(made.add_subplot(grid[top + 1, 0]), study)
    _score(made.add_subplot(grid[top + 1, 1]), study)
    _retention(made.add_subplot(grid[top + 2, 0]), study, at)
    if study.memory in study.trace.memory:
        _age(made.add_subplot(grid[top + 2, 1]), study, at)


def _stream(axes: Axes, study: Study) -> None:
    stream = study.stream
    if stream is None:
        return
    if isinstance(stream, CategoryStream):
        _bits(axes, study, stream)
        return
    if stream.low is not None and stream.high is not None:
        axes.fill_between(
            stream.steps, stream.low, stream.high, color=BLUE, alpha=0.2, linewidth=0,
            label="interval",
        )  # fmt: skip
    axes.plot(stream.steps, stream.actual, color=GREY, linewidth=0.8, label="came")
    axes.plot(stream.steps, stream.prediction, color=BLUE, linewidth=0.8, label="predicted")
    for alarm in stream.alarms:
        axes.axvline(alarm, color=RED, linewidth=1)
    for border in study.borders:
        axes.axvline(border, 0.93, 1.0, color=GREEN, linewidth=1)
    ends = (study.start, study.start + study.trace.steps)
    axes.set(xlabel="step", ylabel="target", xlim=ends)
    # Early intervals may be far wider than the stream: they must not flatten it.
    known = np.concatenate((stream.actual, stream.prediction))
    known = known[np.isfinite(known)]
    if known.size and np.ptp(known) > 0:
        low, high = known.min(), known.max()
        axes.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)


def _bits(axes: Axes, study: Study, stream: CategoryStream) -> None:
    axes.plot(stream.steps, stream.bits, ".", color=BLUE, markersize=3)
    ends = (study.start, study.start + study.trace.steps)
    axes.set(xlabel="step", ylabel="bits of what came", xlim=ends)


def _experts(axes: Axes, study: Study) -> None:
    """Shares one on top of the other; those of the least weight are one."""
    stream = study.stream
    if stream is None:
        return
    names = list(stream.weights)
    most, rest = names[: len(SHARES) - 1], names[len(SHARES) - 1 :]
    shares = [stream.experts[name] for name in most]
    if rest:
        shares.append(np.sum([stream.experts[name] for name in rest], axis=0))
    labels = [*most, f"{len(rest)} others"][: len(shares)]
    axes.stackplot(stream.steps, *shares, labels=labels, colors=SHARES[: len(shares)])
    ends = (study.start, study.start + study.trace.steps)
    axes.set(xlabel="step", ylabel="share of the expert", xlim=ends, ylim=(0, 1))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(shares), frameon=False)


def _map(made: Figure, axes: Axes, study: Study) -> None:
    every = -(-study.trace.steps // COLUMNS)
    least = np.exp(decimate(study.trace, every).minimum[study.memory][:, 0])
    order = np.argsort(-study.half_lives.median, kind="stable")
    ends = (study.start, study.start + study.trace.steps)
    image = axes.imshow(
        least[:, order].T, aspect="auto", cmap="cividis_r", vmin=0, vmax=1,
        extent=(*ends, len(order) - 0.5, -0.5), interpolation="nearest",
    )  # fmt: skip
    each = -(-len(order) // 16)
    axes.set_yticks(range(0, len(order), each), [str(study.units[k]) for k in order[::each]])
    axes.set(xlabel="step", ylabel="unit")
    made.colorbar(image, ax=axes, label="share kept per step, least")


def _spectrum(axes: Axes, study: Study) -> None:
    lives = study.half_lives
    order = np.argsort(-lives.median, kind="stable")
    places = np.arange(len(order))
    axes.semilogy(places, lives.between_events[order], "o", color=BLUE, label="between events")
    axes.semilogy(places, lives.effective[order], "D", color=ORANGE, mfc="none", label="effective")
    each = -(-len(order) // 16)
    axes.set_xticks(places[::each], [str(study.units[k]) for k in order[::each]])
    for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        which(FuncFormatter(_few_digits))
    axes.set(xlabel="unit", ylabel="half-life in steps")
    axes.legend(frameon=False)


def _score(axes: Axes, study: Study) -> None:
    steps = study.start + np.arange(study.trace.steps)
    axes.plot(steps, study.score, color=ORANGE, linewidth=0.7)
    low, high = axes.get_ylim()
    foot = low - 0.1 * (high - low)
    axes.plot([e.step for e in study.events], [foot] * len(study.events), "|", color=ORANGE)
    axes.plot(study.borders, [high] * len(study.borders), "|", color=GREEN)
    axes.set(xlabel="step (foot: events, top: borders)", ylabel="forget score E")


def _retention(axes: Axes, study: Study, step: int) -> None:
    share = retention_curve(study.trace, step - study.start, study.memory).share[:LONGEST, 0]
    axes.plot(share, color=GREY, alpha=0.35, linewidth=0.7)
    axes.plot(np.median(share, axis=1), color=BLUE, linewidth=2.5, label="median of all units")
    axes.set(xlabel=f"steps after step {step:,}", ylabel="share still there")
    axes.legend(frameon=False)


def _age(axes: Axes, study: Study, step: int) -> None:
    parts = memory_age(study.trace, step - study.start, study.memory).parts[::-1, 0]
    size = np.abs(parts[:LONGEST]).sum(axis=1)
    shown = max(20, int(np.searchsorted(np.cumsum(size), 0.99 * size.sum())) + 1)
    axes.bar(np.arange(len(size[:shown])), size[:shown], color=GREEN)
    axes.set(xlabel=f"written so many steps before step {step:,}", ylabel="left, summed |parts|")


def _few_digits(value: float, place: int | None = None) -> str:
    """Only 1, 2 and 5 times a power of ten have room on a logarithmic axis."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""
