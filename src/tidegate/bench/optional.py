"""Packages that may be installed or not."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from tidegate._core.errors import MissingExtraError

__all__ = ["imported", "installed"]


def installed(package: str) -> bool:
    """Whether a package can be imported, found without importing it.

    >>> installed("json"), installed("no_such_package")
    (True, False)
    """
    return find_spec(package) is not None


def imported(module: str, package: str) -> Any:
    """A module of an optional package.

    Args:
        module: its full name.
        package: as pip knows it.

    Raises:
        MissingExtraError: it is not installed, or does not work with what is.

    >>> imported("json", "json").loads("1")
    1
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        got = "none installed" if not installed(module.partition(".")[0]) else str(error)
        help = f"Install it: pip install {package}"
        raise MissingExtraError(module, f"the package {package}", got, help) from error
