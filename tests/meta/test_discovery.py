"""In a family's folder a file is a member, or one of the few that members are made of."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from tidegate._core.discovery import members

# family: (its abstract class, the modules that serve its members)
FAMILIES = {
    "cells": ("Cell", {"base", "functions", "laws"}),
    "tasks": ("Task", {"arrays", "automaton", "base", "criterion", "randomness"}),
    "datasets": ("Dataset", {"base", "packages"}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_file_of_a_family_is_found(family: str) -> None:
    base, serving = FAMILIES[family]
    package = import_module(f"tidegate.{family}")
    files = {module.name for module in pkgutil.iter_modules(package.__path__)}
    abstract = getattr(import_module(f"tidegate.{family}.base"), base)
    found = members(f"tidegate.{family}", abstract)
    homes = {cls.__module__.rpartition(".")[2] for cls in found.values()}
    assert homes == files - serving
    assert serving <= files
