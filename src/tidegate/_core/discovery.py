"""Families: one folder, one abstract class, one file per member, and a name finds it.

A newcomer's file in the folder is a member at once: nothing else lists them.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from tidegate._core.errors import UsageError

T = TypeVar("T")


def members(package: str, base: type[T]) -> dict[str, type[T]]:
    """Every concrete subclass of ``base`` defined in a module of ``package``, by its name.

    The name of a member is ``cls.name`` where it has one, else its class name in snake case.

    >>> from tidegate.cells.base import Cell
    >>> members("tidegate.cells", Cell)["lstm"].__name__
    'LSTM'
    """
    return dict(_members(package, cast(Hashable, base)))


@cache
def _members(package: str, base: Hashable) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        namespace = importlib.import_module(f"{package}.{module.name}")
        for cls in vars(namespace).values():
            if _is_member(cls, base, namespace.__name__):
                found[member_name(cls)] = cls
    return found


def _is_member(cls: object, base: Any, module: str) -> bool:
    return (
        inspect.isclass(cls)
        and issubclass(cls, base)
        and cls.__module__ == module
        and not inspect.isabstract(cls)
        and cls is not base
    )


def member_name(cls: type) -> str:
    """The name users write: ``UpdateGate`` is ``update_gate``, ``LSTM1997`` is ``lstm1997``."""
    own: str | None = getattr(cls, "name", None)
    return own or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def find(package: str, base: type[T], name: str, owner: str) -> type[T]:
    """The member called ``name``.

    Raises:
        UsageError: there is none; the message names the nearest and lists all.
    """
    known = members(package, base)
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else "Write one of these names."
    raise UsageError(owner, f"one of {', '.join(sorted(known))}", repr(name), hint)
