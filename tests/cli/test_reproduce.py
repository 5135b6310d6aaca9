"""``tidegate reproduce``: lists, runs, resumes, judges, and says so in its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidegate.experiments import AtLeast, Row, Trial, experiments
from tidegate.experiments.recent_one import HandSet

QUICK = ("recent-one", "--trials", 2, "--budget", 2000, "--processes", 1)
TWO = ("--row", "hand-set n=3", "--row", "hand-set-outside n=3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_names_every_experiment(call) -> None:
    done = call("reproduce", "--list")
    listed = [line.split()[0] for line in done.out.decode().splitlines()]
    assert done.code == 0 and listed == sorted(experiments())
    wanted = "erg cerg cerg-unmarked nto cnto cerg-best cnto-best msd gts pfg recent-one telephone"
    assert {*wanted.split(), "braces", "copy", "adding", "parity"} <= set(listed)


def test_the_table_as_json(call) -> None:
    done = call("reproduce", *QUICK, *TWO, "--format", "json")
    table = json.loads(done.out)
    inside, outside = table["rows"]
    assert done.code == 0 and table["name"] == "recent-one"
    assert (inside["trials"], inside["solved"], outside["solved"]) == (2, 2, 0)
    assert inside["verdict"] == "not comparable"
    assert "seed 1001: solved" in done.err


def test_the_table_for_people(call) -> None:
    done = call("reproduce", *QUICK, *TWO)
    text = done.out.decode()
    assert "set by hand, n = 3" in text and "2/2" in text and "verdict" in text


def test_finished_trials_are_not_run_again(call, folder: Path) -> None:
    first = call("reproduce", *QUICK, *TWO, "--format", "json")
    kept = folder / "results/recent-one/trials.jsonl"
    before = kept.read_text()
    assert len(before.splitlines()) == 4
    assert call("reproduce", *QUICK, *TWO, "--format", "json").out == first.out
    assert kept.read_text() == before


def test_what_is_kept_is_shown_without_a_run(call, folder: Path, monkeypatch) -> None:
    asked = ("reproduce", "recent-one", "--budget", 2000, "--kept", "--format", "json")
    nothing = call(*asked)
    assert nothing.code == 2 and "--kept: expected trials of recent-one by 2,000" in nothing.err
    assert not (folder / "results").exists()
    call("reproduce", *QUICK, *TWO)
    call("reproduce", *QUICK, *TWO[:2], "--seed", 7)
    monkeypatch.setattr("tidegate.cli._reproduction.run", None)
    table = json.loads(call(*asked).out)
    assert [(row["row"], row["trials"]) for row in table["rows"]] == [
        ("hand-set n=3", 4),
        ("hand-set-outside n=3", 2),
    ]
    few = json.loads(call(*asked, "--row", TWO[3]).out)
    assert [row["trials"] for row in few["rows"]] == [2]


def test_a_run_that_is_stopped_says_how_it_goes_on(call, folder: Path, monkeypatch) -> None:
    trial = HandSet.trial

    def stopped(self, row: str, seed: int, budget: int) -> Trial:
        if seed == 1001:
            raise KeyboardInterrupt
        return trial(self, row, seed, budget)

    with monkeypatch.context() as patch:
        patch.setattr(HandSet, "trial", stopped)
        patch.setattr("tidegate.experiments.keeping._version", lambda experiment: "one")
        broken = call("reproduce", *QUICK, *TWO)
    assert broken.code == 130
    assert "Stopped. results/recent-one keeps what is finished" in broken.err
    monkeypatch.setattr("tidegate.experiments.keeping._version", lambda experiment: "one")
    table = json.loads(call("reproduce", *QUICK, *TWO, "--kept", "--format", "json").out)
    assert [row["trials"] for row in table["rows"]] == [1, 1]


def test_a_changed_trial_is_run_again(call, folder: Path, monkeypatch) -> None:
    call("reproduce", *QUICK, *TWO)
    monkeypatch.setattr(HandSet, "trial", lambda self, row, seed, budget: Trial(True, 1))
    table = json.loads(call("reproduce", *QUICK, *TWO, "--format", "json").out)
    assert [row["solved"] for row in table["rows"]] == [2, 2]


def test_another_budget_or_folder_is_another_run(call, folder: Path) -> None:
    call("reproduce", *QUICK, *TWO, "--save", "here")
    call("reproduce", "recent-one", "--trials", 1, "--budget", 900, *TWO, "--save", "here")
    lines = (folder / "here/trials.jsonl").read_text().splitlines()
    assert [json.loads(line)["budget"] for line in lines] == [2000] * 4 + [900] * 2


def test_a_claim_that_should_hold_and_does_not_is_code_5(call, monkeypatch) -> None:
    monkeypatch.setattr(HandSet, "trial", lambda self, row, seed, budget: Trial(False, 1))
    options = ("--trials", 8, "--row", "hand-set n=3", "--processes", 1)
    done = call("reproduce", "recent-one", *options)
    assert done.code == 5 and "Should hold and does not: hand-set n=3" in done.err


def test_one_known_not_to_hold_is_no_failure(call, monkeypatch) -> None:
    row = Row("hand-set n=3", "known", "100 %", AtLeast(1.0), stands=False, note="The reason.")
    monkeypatch.setattr(HandSet, "rows", lambda self: [row])
    monkeypatch.setattr(HandSet, "trial", lambda self, row, seed, budget: Trial(False, 1))
    done = call("reproduce", "recent-one", "--trials", 8, "--processes", 1)
    text = done.out.decode()
    assert done.code == 0 and "does not hold" in text and "The reason." in text


def test_the_page_is_written(call, folder: Path) -> None:
    done = call("reproduce", *QUICK, *TWO, "--page", "docs/recent-one.md")
    text = (folder / "docs/recent-one.md").read_text()
    assert done.code == 0 and text.startswith(r"# The language (0|1)\*10000\*: a 1 has come")
    assert "hand" in text and (folder / "docs/recent-one-learning.svg").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("cerk",), "Did you mean 'cerg'"),
        ((), "Name an experiment"),
        (("cerg", "--row", "forgot"), "one of external-reset"),
        (("cerg", "--trials", "0"), "--trials"),
    ],
)
def test_wrong_words_are_usage_errors(call, arguments, message: str) -> None:
    done = call("reproduce", *arguments)
    assert done.code == 2 and message in done.err
