"""Options from flags, environment and file, and the command that shows them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cli.conftest import Call


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_option_is_shown_with_where_it_comes_from(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tidegate.toml").write_text('[run]\nunits = 8\ninput = ["a\\"b", "c"]\nseed = 1\n')
    monkeypatch.setenv("TIDEGATE_SEED", "7")
    done = call("config")
    assert done.code == 0
    lines = {line.split()[0]: line for line in done.out.decode().splitlines()[1:]}
    assert lines["seed"].split() == ["seed", "=", "7", "#", "TIDEGATE_SEED"]
    assert lines["units"].endswith("# tidegate.toml: run.units")
    assert lines["horizon"].endswith("# default")
    assert "# cell " in done.out.decode()
    shown = tomllib.loads(done.out.decode())["run"]
    assert (shown["level"], shown["most_keys"], shown["light"]) == ([0.9], 1000, False)
    assert (shown["input"], shown["units"], shown["follow"]) == (['a"b', "c"], 8, False)


def test_what_is_shown_can_be_the_file(call: Call, tmp_path: Path) -> None:
    shown = call("config").out
    (tmp_path / "tidegate.toml").write_bytes(shown)
    again = call("config")
    assert again.code == 0 and b"# tidegate.toml: run.horizon" in again.out


def test_flags_win_over_environment_over_file(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    (tmp_path / "tidegate.toml").write_text('[run]\ntarget = "load"\nunits = 8\nwarmup = 5\n')
    monkeypatch.setenv("TIDEGATE_UNITS", "6")
    monkeypatch.setenv("TIDEGATE_WARMUP", "7")
    assert call("run", hourly, "--save", "run", "--warmup", 9, "--out", "o.jsonl").code == 0
    options = json.loads((tmp_path / "run" / "run.json").read_text())["options"]
    assert (options["target"], options["units"], options["warmup"]) == ("load", 6, 9)


@pytest.mark.parametrize("command", ["config", "run"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[run]\nunit = 3\n", "Did you mean units?"),
        ("[runs]\nunits = 3\n", "Did you mean run?"),
        ("[run]\nunits = 0\n", "tidegate.toml: run.units: expected a whole number of at least 1"),
        ('[run]\ntrace = "perhaps"\n', "expected true or false"),
        ("units = \n", "a file in TOML"),
    ],
)
def test_what_the_file_may_not_say(
    call: Call, tmp_path: Path, command: str, text: str, words: str
) -> None:
    (tmp_path / "tidegate.toml").write_text(text)
    done = call(command)
    assert (done.code, done.out) == (2, b"") and words in done.err


def test_a_variable_nobody_knows_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_UNIT", "3")
    done = call("config")
    assert done.code == 2 and "Did you mean TIDEGATE_UNITS?" in done.err


def test_switches_can_be_switched_off(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_TRACE", "yes")
    assert call("run", hourly, "--target", "load").code == 2
    assert call("run", hourly, "--target", "load", "--no-trace").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--follow"], "a FILE with --follow"),
        (["--separator", ";"], "a FILE with --separator"),
        (["-", "--target", "load", "--follow"], "--follow: expected a file"),
        (["--units", 4, "--horizon", 3], "--horizon: expected the forecaster, got --units"),
        (["--cell", "gru", "--level", 0.5], "--level: expected the forecaster, got --cell"),
        (["--horizon", 1001], "--horizon: expected at most 1,000 rows, got 1,001"),
        (["--key", "store"], "a FILE with --key"),
        (["-", "--target", "a", "--key", "b", "--trace", "--save", "x"], "--trace: expected one"),
    ],
)
def test_contradictions(call: Call, arguments: list[object], words: str) -> None:
    done = call("run", *arguments)
    assert (done.code, done.out) == (2, b"") and words in done.err


def test_separators_and_decimal_marks(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("load;wind\n1,5;2\n2,5;3\n")
    asked = ["run", "a.csv", "--target", "load"]
    done = call(*asked, "--separator", ";", "--decimal", ",")
    assert [record["actual"] for record in done.records] == [1.5, 2.5]
    assert "--decimal" in call(*asked, "--separator", ";").err
    assert "--separator" in call(*asked).err
