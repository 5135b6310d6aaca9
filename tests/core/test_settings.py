"""Options: which place wins, what is refused, and that every message says where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import UsageError
from tidegate._core.kinds import Choice, Kind, Number, Several, Switch, Text, Whole
from tidegate._core.settings import Option, Settings, resolve

OPTIONS = [
    Option("units", Whole(least=1), 32, "Units of the layer."),
    Option("rate", Number(least=0), 0.01, "Step size."),
    Option("on-bad-row", Choice(("stop", "skip")), "stop", "What becomes of such rows."),
    Option("input", Several(Text()), (), "Columns to learn from."),
    Option("follow", Switch(), False, "Wait for more rows."),
]


def resolved(
    flags: dict[str, Any] | None = None, environment: dict[str, str] | None = None, **more: Any
) -> Settings:
    return resolve(OPTIONS, flags or {}, environment or {}, **more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tidegate.toml"


@given(st.sets(st.sampled_from(["flag", "variable", "file"])))
def test_the_first_place_that_gives_a_value_wins(
    tmp_path_factory: pytest.TempPathFactory, given: set[str]
) -> None:
    file = tmp_path_factory.getbasetemp() / "tidegate.toml"
    file.write_text("[run]\nunits = 3\n" if "file" in given else "")
    flags = {"units": 1} if "flag" in given else {"units": None}
    environment = {"TIDEGATE_UNITS": "2"} if "variable" in given else {}
    settings = resolved(flags, environment, file=file)
    places = [
        ("flag", 1, "--units"),
        ("variable", 2, "TIDEGATE_UNITS"),
        ("file", 3, f"{file}: run.units"),
        ("default", 32, "default"),
    ]
    _, value, source = next(place for place in places if place[0] in given | {"default"})
    assert (settings["units"], settings.source("units")) == (value, source)
    assert dict(settings)["rate"] == 0.01 and settings.source("rate") == "default"
    assert list(settings) == ["units", "rate", "on_bad_row", "input", "follow"]


def test_every_kind_is_read_from_every_place(file: Path) -> None:
    file.write_text(
        '[run]\nunits=8\nrate=1\non_bad_row="skip"\ninput=["a", "b"]\nfollow=true\n[watch]\nport=1'
    )
    expected = {"units": 8, "rate": 1.0, "on_bad_row": "skip", "input": ("a", "b"), "follow": True}
    texts = {
        "TIDEGATE_UNITS": "8",
        "TIDEGATE_RATE": "1e0",
        "TIDEGATE_ON_BAD_ROW": "skip",
        "TIDEGATE_INPUT": "a, b",
        "TIDEGATE_FOLLOW": "on",
    }
    assert dict(resolved(file=file, tables=["watch"])) == expected
    assert dict(resolved(environment=texts)) == expected
    assert dict(resolved(expected)) == expected
    assert type(resolved(file=file, tables=["watch"])["rate"]) is float


def test_an_empty_variable_and_an_absent_file_are_not_given(file: Path) -> None:
    settings = resolved(environment={"TIDEGATE_UNITS": ""}, file=file)
    assert settings.source("units") == "default"
    file.write_text("")
    assert resolved(file=file).source("units") == "default"


def test_variables_of_others_and_reserved_ones_are_left_alone() -> None:
    environment = {"HOME": "/", "TIDEGATE_CACHE": "x", "TIDEGATE_REFERENCE": "1", "UNITS": "x"}
    assert resolved(environment=environment)["units"] == 32


def refused(*args: Any, **named: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        resolved(*args, **named)
    assert caught.value.exit_code == 2
    return caught.value


def test_unknown_names_are_refused_with_the_nearest(file: Path) -> None:
    error = refused(environment={"TIDEGATE_UNTIS": "3"})
    assert (error.owner, error.got) == ("environment", "'TIDEGATE_UNTIS'")
    assert error.help == "Did you mean TIDEGATE_UNITS?"
    file.write_text("[run]\nunit = 3\n")
    error = refused(file=file)
    assert (error.owner, error.help) == (f"{file}: [run]", "Did you mean units?")
    file.write_text("[rnu]\nunits = 3\n")
    error = refused(file=file)
    assert (error.owner, error.help) == (str(file), "Did you mean run?")
    assert refused({"quux": 1}).help.startswith("Known: follow, input,")


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("units = 0", "a whole number of at least 1, got 0"),
        ("units = 1.0", "got 1.0"),
        ("units = true", "got True"),
        ("rate = -1", "a number of at least 0, got -1"),
        ("rate = nan", "got nan"),
        ("rate = inf", "got inf"),
        ("on_bad_row = 'ignore'", "stop or skip, got 'ignore'"),
        ("input = [1]", "a list, each a text, got [1]"),
        ("input = 3", "got 3"),
        ("follow = 1", "true or false, got 1"),
        ("units = 1979-05-27", "got datetime.date(1979, 5, 27)"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(toml: str, told: str, file: Path) -> None:
    file.write_text(f"[run]\n{toml}\n")
    error = refused(file=file)
    assert error.owner == f"{file}: run.{toml.split(' ')[0]}"
    assert told in str(error)


def test_a_wrong_text_is_named_with_its_place() -> None:
    error = refused(environment={"TIDEGATE_UNITS": "many"})
    assert str(error) == (
        "TIDEGATE_UNITS: expected a whole number of at least 1, got 'many'. Units of the layer."
    )
    assert refused({"rate": "1,5"}).owner == "--rate"
    assert len(str(refused({"rate": "9" * 10_000}))) < 300
    assert refused({"on_bad_row": "x"}).owner == "--on-bad-row"


def test_a_wrong_value_that_is_overruled_does_not_matter() -> None:
    assert resolved({"units": 1}, {"TIDEGATE_UNITS": "many"})["units"] == 1


@pytest.mark.parametrize("content", [b"units", b"[run]\n[run]\n", b"\xff", b"a=" + b"[" * 9_999])
def test_what_is_no_toml_is_refused(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert refused(file=file).expected == "a file in TOML"


def test_what_is_no_table_and_no_file_is_refused(file: Path, tmp_path: Path) -> None:
    file.write_text("run = 3\n")
    assert refused(file=file).expected == "a table"
    assert refused(file=tmp_path).expected == "a file in TOML"


def test_bounds_are_said_and_belong_to_the_kind() -> None:
    for kind, text in [
        (Whole(), "a whole number"),
        (Number(), "a number"),
        (Number(most=3), "a number of at most 3"),
        (Choice(("a",)), "a"),
        (Choice(("a", "b", "c")), "a, b or c"),
    ]:
        assert kind.expected == text
    assert Number(0, 1).read(1) == 1 and Whole(least=1).read("1") == 1
    for value in (-0.1, 1.1, 10**400, None, []):
        with pytest.raises(ValueError):
            Number(0, 1).read(value)


KINDS = [Whole(), Whole(3), Number(), Number(-1, 2), Text(), Switch(), Choice(("a", "b"))]
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=9),
    st.lists(st.text()),
    st.sampled_from(["a", "on", "1", "-1e3", " 7 "]),
)


@given(st.sampled_from([*KINDS, *map(Several, KINDS)]), ANYTHING)
def test_a_kind_reads_or_refuses_and_reads_its_own_values(kind: Kind, given: Any) -> None:
    try:
        value = kind.read(given)
    except ValueError:
        return
    assert kind.read(value) == value and type(kind.read(value)) is type(value)
