"""Carries out the trials of an experiment, side by side in processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from tidegate._core.discovery import find, members
from tidegate.experiments.base import Experiment, Trial
from tidegate.experiments.keeping import Job, Kept

__all__ = ["experiments", "named", "run"]

#: called with each finished job and its trial
Heard: TypeAlias = Callable[[Job, Trial], None]

_PACKAGE = "tidegate.experiments"


def experiments() -> dict[str, Experiment]:
    """Every experiment by its name.

    >>> "cerg" in experiments()
    True
    """
    found = members(_PACKAGE, Experiment)  # type: ignore[type-abstract]
    return {name: found[name]() for name in sorted(found)}


def named(name: str) -> Experiment:
    """The experiment called ``name``.

    Raises:
        UsageError: there is none; the message lists all.

    >>> named("cerg").unit
    'training streams'
    """
    kind = find(_PACKAGE, Experiment, name, "reproduce")  # type: ignore[type-abstract]
    return kind()


def run(
    experiment: Experiment,
    jobs: Sequence[Job],
    folder: Path,
    processes: int = 1,
    heard: Heard = lambda job, trial: None,
) -> dict[Job, Trial]:
    """Run the jobs that ``folder`` does not hold yet; the trials of all of them.

    Args:
        experiment: one that discovery finds.
        jobs: in the order in which they are begun.
        folder: where finished trials are kept.
        processes: side by side; 1 stays in this process.
        heard: told of every trial as it ends, also of those that were kept.

    >>> import tempfile
    >>> job = Job("hand-set n=3", seed=1, budget=1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run(named("recent-one"), [job], Path(folder))[job].solved
    True
    """
    kept = Kept(folder, experiment)
    for job in jobs:
        if job in kept.trials:
            heard(job, kept.trials[job])
    wanted = [job for job in jobs if job not in kept.trials]
    with _finished(experiment.name, wanted, processes) as results:
        for job, trial in results:
            kept.add(job, trial)
            heard(job, trial)
    return {job: kept.trials[job] for job in jobs}


def _carry_out(name: str, job: Job) -> tuple[Job, Trial]:
    return job, named(name).trial(job.row, job.seed, job.budget)


@contextmanager
def _finished(
    name: str, jobs: Sequence[Job], processes: int
) -> Iterator[Iterator[tuple[Job, Trial]]]:
    carry_out = partial(_carry_out, name)
    if processes == 1 or len(jobs) < 2:
        yield map(carry_out, jobs)
        return
    # Spawned, not forked: a fork of a process that holds threads and machine code may hang.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(processes, len(jobs)), _leave_interrupts) as pool:
        yield pool.imap_unordered(carry_out, jobs)


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; the one that began the others ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
