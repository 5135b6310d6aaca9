"""Claims, intervals, kept trials and tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from scipy import stats  # type: ignore[import-untyped]

from tidegate._core.errors import UsageError
from tidegate.experiments import (
    AtLeast,
    AtMost,
    Experiment,
    Job,
    Kept,
    Near,
    Nothing,
    Row,
    Trial,
    experiments,
    lines,
    named,
    run,
    wilson,
)
from tidegate.experiments.page import page
from tidegate.experiments.table import columns, remarks, table_json, unmet


@pytest.mark.parametrize("k, n", [(0, 10), (3, 10), (10, 10), (18, 100), (0, 140), (82, 100)])
def test_intervals_are_those_of_scipy(k: int, n: int) -> None:
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("k, n", [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(UsageError, match="wilson"):
        wilson(k, n)


def test_verdicts() -> None:
    assert Near(0.18).judge(81, 100) == "does not hold"
    assert Near(0.18).judge(16, 100) == "holds"
    assert Near(0.5).judge(4, 8) == "not comparable" and Near(0.5).judge(10, 20) == "holds"
    assert Near(0.0).judge(0, 8) == "holds" and Near(0.0).judge(6, 8) == "does not hold"
    assert AtLeast(0.95).judge(95, 100) == "holds" and AtLeast(1.0).judge(99, 100) != "holds"
    assert AtMost(0.0).judge(1, 100) == "does not hold"
    for claim in (Near(0.5), AtLeast(0.5), AtMost(0.5), Nothing()):
        assert claim.judge(2, 4) == "not comparable"


class Coin(Experiment):
    """An experiment whose trials are known beforehand."""

    name: ClassVar[str] = "coin"
    title: ClassVar[str] = "A coin"
    source: ClassVar[str] = "a test"
    protocol: ClassVar[str] = "Odd seeds are solved."
    criterion: ClassVar[str] = "heads"
    budget: ClassVar[int] = 10
    quick: ClassVar[tuple[int, int]] = (1, 5)
    carried_out: ClassVar[list[tuple[str, int]]] = []

    def rows(self):
        return [Row("good", "good", "50 %", Near(0.5)), Row("bad", "bad | worse", "0 %", AtMost(0))]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        self.carried_out.append((row, seed))
        return Trial(bool(seed % 2), 100 * seed, seed, seed > 3, None, 0.5 * seed)


def trials(count: int = 10) -> dict[Job, Trial]:
    jobs = [Job(row, seed, 10) for seed in range(count) for row in ("good", "bad")]
    return {job: Coin().trial(job.row, job.seed, job.budget) for job in jobs}


def test_a_line_sums_up_its_trials() -> None:
    good, bad = lines(Coin(), trials())
    assert (good.trials, good.solved, good.median_symbols, good.max_symbols) == (10, 5, 500, 900)
    assert (good.median_streams, good.retest_perfect, good.error_free_1e6) == (5, 3, None)
    assert (good.verdict, bad.verdict) == ("not comparable", "does not hold")
    assert unmet([good, bad]) == ["bad"]
    heads, row, _ = columns(Coin(), [good, bad])
    assert row[1:4] == ["5/10", "24-76 %", "50 %"] and row[5:] == ["500, 900", "5", "3/5", "2.25"]
    assert heads[-2] == "retest" and "quiet 1e6" not in heads and len(heads) == len(row)


def test_it_is_said_why_rows_are_not_judged() -> None:
    enough, few = lines(Coin(), trials(20)), lines(Coin(), trials(7))
    assert remarks(Coin(), enough, 10) == []
    assert "fewer than 8 trials" in remarks(Coin(), few, 10)[0]
    assert "less than 10 symbols" in remarks(Coin(), enough, 9)[0]


def test_nothing_is_judged_by_a_shorter_budget() -> None:
    assert {line.verdict for line in lines(Coin(), trials(), shortened=True)} == {"not comparable"}


def test_the_json_has_the_promised_fields() -> None:
    table = json.loads(json.dumps(table_json(Coin(), lines(Coin(), trials()))))
    assert table["name"] == "coin"
    promised = "row trials solved median_symbols max_symbols median_streams retest_perfect"
    promised += " error_free_1e6 published interval verdict"
    assert set(promised.split()) <= set(table["rows"][0])
    assert table["rows"][0]["interval"] == [0.2366, 0.7634]


def test_finished_trials_are_kept_and_cut_lines_are_not(tmp_path: Path) -> None:
    kept, job = Kept(tmp_path, Coin()), Job("good", 1, 10)
    kept.add(job, Trial(True, 5))
    file = tmp_path / "trials.jsonl"
    file.write_text(file.read_text() + '{"version": "x", "ro')
    again = Kept(tmp_path, Coin())
    assert again.trials == {job: Trial(True, 5)}
    again.add(Job("bad", 2, 10), Trial(False, 6))
    assert len(Kept(tmp_path, Coin()).trials) == 2


def test_trials_of_another_text_are_not_taken(tmp_path: Path) -> None:
    Kept(tmp_path, Coin()).add(Job("good", 1, 10), Trial(True, 5))
    file = tmp_path / "trials.jsonl"
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "version": "0" * 16}) + "\n")
    assert Kept(tmp_path, Coin()).trials == {}


def test_a_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[run.__module__], "named", lambda name: Coin())
    Coin.carried_out.clear()
    jobs, heard = [Job("good", seed, 10) for seed in range(4)], []
    run(Coin(), jobs[:2], tmp_path)
    found = run(Coin(), jobs, tmp_path, heard=lambda job, trial: heard.append(job.seed))
    assert Coin.carried_out == [("good", seed) for seed in range(4)]
    assert sorted(heard) == [0, 1, 2, 3] and list(found) == jobs


def test_processes_give_the_same_trials(tmp_path: Path) -> None:
    jobs = [Job("hand-set n=3", seed, 2000) for seed in range(3)]
    one = run(named("recent-one"), jobs, tmp_path / "one", processes=1)
    two = run(named("recent-one"), jobs, tmp_path / "two", processes=2)
    assert one == two


def test_the_page_holds_the_table_and_what_is_wanting() -> None:
    found = trials()
    text = page(Coin(), lines(Coin(), found), found, [], "coin")
    assert "| good | 5/10 |" in text and "10 seeds, 0 to 9." in text and "does not hold" in text


EVERY = experiments()


@pytest.mark.parametrize("name", EVERY)
def test_every_experiment_is_described(name: str) -> None:
    experiment = EVERY[name]
    for text in ("title", "source", "protocol", "criterion", "unit", "picture"):
        assert getattr(experiment, text)
    trials, budget = experiment.quick
    assert 1 <= trials <= experiment.trials and 1 <= budget <= experiment.budget
    names = [row.name for row in experiment.rows()]
    assert len(set(names)) == len(names) > 0
    assert all(row.note for row in experiment.rows() if not row.stands and row.published)


@pytest.mark.parametrize("name", EVERY)
def test_the_same_seed_is_the_same_trial(name: str) -> None:
    experiment = EVERY[name]
    row = experiment.rows()[0].name
    budget = 500 if name.startswith("cerg-best") else max(1, experiment.budget // 1000)
    budget = 600 if name == "cnto-best" else budget
    if name == "braces":
        pytest.skip("one reading of the modules takes seconds")
    one, two = (experiment.trial(row, 5, budget) for _ in range(2))
    assert one == two
