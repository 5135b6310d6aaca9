"""Finished trials, kept as JSON lines in a folder, so that a run can be broken off and resumed."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tidegate.experiments.base import Experiment, Trial

__all__ = ["Job", "Kept"]


@dataclass(frozen=True)
class Job:
    """One trial to be run: of which row, by which seed, with which budget.

    >>> Job("forget", 1000, 30_000).seed
    1000
    """

    row: str
    seed: int
    budget: int


class Kept:
    """The file ``trials.jsonl`` of a folder.

    A line counts only for the protocol that it was made by: when an experiment's protocol, its
    criterion or its ``trial`` is changed, trials are run anew. A last line that was cut is passed
    over.

    Args:
        folder: made where it is missing.
        experiment: whose trials they are.

    >>> import tempfile
    >>> from tidegate.experiments import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Kept(Path(folder), named("cerg")).add(Job("forget", 1, 100), Trial(False, 900))
    ...     list(Kept(Path(folder), named("cerg")).trials)
    [Job(row='forget', seed=1, budget=100)]
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self._path = folder / "trials.jsonl"
        self._version = _version(experiment)
        folder.mkdir(parents=True, exist_ok=True)
        self.trials: dict[Job, Trial] = dict(self._read())

    def add(self, job: Job, trial: Trial) -> None:
        """Keep a finished trial; it is on the disk when this returns."""
        line = {"version": self._version, **asdict(job), "trial": asdict(trial)}
        with self._path.open("a", encoding="utf-8") as file:
            if file.tell() and not self._path.read_bytes().endswith(b"\n"):
                file.write("\n")
            file.write(json.dumps(line) + "\n")
        self.trials[job] = trial

    def _read(self) -> Iterator[tuple[Job, Trial]]:
        if not self._path.exists():
            return
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
                if record.pop("version") == self._version:
                    trial = Trial(**record.pop("trial"))
                    yield Job(**record), trial
            except (ValueError, KeyError, TypeError, AttributeError):
                continue


def _version(experiment: Experiment) -> str:
    """Of what is asked, in words and in code, and of no other prose."""
    parts = (experiment.protocol, experiment.criterion, inspect.getsource(type(experiment).trial))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
