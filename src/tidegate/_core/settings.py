"""Options from four places: flags, the environment, ``tidegate.toml``, defaults; first one wins."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate._core.errors import UsageError
from tidegate._core.kinds import Kind

PREFIX = "TIDEGATE_"

#: variables that are no options: caches, test data, which kernels run
RESERVED = ("TIDEGATE_CACHE", "TIDEGATE_DATA", "TIDEGATE_DUMP", "TIDEGATE_REFERENCE")


@dataclass(frozen=True)
class Option:
    """One option as it is declared.

    Attributes:
        name: as the flag has it, without its dashes: ``on-bad-row``.
        kind: what its values are.
        default: the value where nobody gives one.
        help: one sentence.

    >>> from tidegate._core.kinds import Whole
    >>> option = Option("save-every", Whole(least=1), 30, "Seconds between checkpoints.")
    >>> option.flag, option.variable, option.key
    ('--save-every', 'TIDEGATE_SAVE_EVERY', 'save_every')
    """

    name: str
    kind: Kind
    default: Any
    help: str

    @property
    def flag(self) -> str:
        """How the command line writes it."""
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        """How the environment writes it."""
        return PREFIX + self.key.upper()

    @property
    def key(self) -> str:
        """How a file and Python write it."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Setting:
    """A value in force and where it came from: ``--units``, ``TIDEGATE_UNITS``,
    ``tidegate.toml: run.units`` or ``default``.

    >>> Setting(32, "default").source
    'default'
    """

    value: Any
    source: str


class Settings(Mapping[str, Any]):
    """The values in force, by key.

    >>> settings = Settings({"units": Setting(32, "default")})
    >>> settings["units"], settings.source("units")
    (32, 'default')
    """

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings = dict(settings)

    def __getitem__(self, key: str) -> Any:
        return self._settings[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def source(self, key: str) -> str:
        """Where the value came from."""
        return self._settings[key].source


def resolve(
    options: Sequence[Option],
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None = None,
    *,
    table: str = "run",
    tables: Collection[str] = (),
    reserved: Collection[str] = RESERVED,
) -> Settings:
    """The values in force: flags, else the environment, else the file, else the defaults.

    Args:
        options: all that are declared.
        flags: values by key; None is not given. Texts are read, other values checked.
        environment: variables; an empty one is not given.
        file: where there may be a ``tidegate.toml``; None reads none.
        table: of the file, that holds these options.
        tables: further tables that the file may hold.
        reserved: variables that begin alike and are no options.

    Raises:
        UsageError: a value is none of its kind, a key or variable is not declared, or the file is
            no TOML; the message says where it came from.

    >>> from tidegate._core.kinds import Whole
    >>> options = [Option("units", Whole(least=1), 32, "Units of the layer.")]
    >>> settings = resolve(options, {}, {"TIDEGATE_UNITS": "16"})
    >>> settings["units"], settings.source("units")
    (16, 'TIDEGATE_UNITS')
    """
    by_variable = {option.variable: option for option in options}
    by_key = {option.key: option for option in options}
    given = {name: text for name, text in environment.items() if name.startswith(PREFIX) and text}
    _require_declared(given, [*by_variable, *reserved], "environment")
    _require_declared(flags, by_key, "options")
    written = {} if file is None else _table(file, table, {table, *tables})
    _require_declared(written, by_key, f"{file}: [{table}]")
    return Settings(
        {
            key: _first(o, flags, given, written, f"{file}: {table}.{key}")
            for key, o in by_key.items()
        }
    )


def _first(
    option: Option,
    flags: Mapping[str, Any],
    variables: Mapping[str, str],
    written: Mapping[str, Any],
    place: str,
) -> Setting:
    if flags.get(option.key) is not None:
        return _checked(option, flags[option.key], option.flag)
    if option.variable in variables:
        return _checked(option, variables[option.variable], option.variable)
    if option.key in written:
        return _checked(option, written[option.key], place)
    return Setting(option.default, "default")


def _checked(option: Option, given: Any, source: str) -> Setting:
    try:
        return Setting(option.kind.read(given), source)
    except ValueError:
        shown = repr(given if len(repr(given)) <= 80 else f"{str(given)[:77]}...")
        raise UsageError(source, option.kind.expected, shown, option.help) from None


def _table(file: Path, table: str, tables: set[str]) -> Mapping[str, Any]:
    """The table of the file, empty where there is no file or no such table."""
    try:
        with open(file, "rb") as opened:
            content = tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        hint = "Correct it, or run where there is none."
        raise UsageError(str(file), "a file in TOML", str(error), hint) from error
    _require_declared(content, tables, str(file))
    found = content.get(table, {})
    if not isinstance(found, dict):
        hint = f"Write [{table}] on a line of its own, and its keys below."
        raise UsageError(f"{file}: {table}", "a table", repr(found)[:80], hint)
    return found


def _require_declared(given: Mapping[str, Any], known: Collection[str], owner: str) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(known))}."
            raise UsageError(owner, "a name that is known", repr(name), hint)
