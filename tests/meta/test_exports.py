"""Every public name is exported, can be imported, and is documented."""

from __future__ import annotations

import inspect
import pkgutil
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import pytest

import tidegate

# A command is documented by its own help; kernels are reached through what learns with them.
NOT_CALLED = {"cli", "kernels"}
PACKAGES = sorted(
    module.name
    for module in pkgutil.iter_modules(tidegate.__path__)
    if module.ispkg and not module.name.startswith("_") and module.name not in NOT_CALLED
)


def exported(module: ModuleType) -> dict[str, object]:
    """What ``__all__`` names, sub-packages left out."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in found.items() if not inspect.ismodule(value)}


def own(module: ModuleType) -> dict[str, object]:
    """Public classes and functions that ``module`` itself defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    }


def is_documented(value: object) -> bool:
    """Whether somebody wrote the docstring; dataclasses and named tuples make one up."""
    text = getattr(value, "__doc__", None) or ""
    return bool(text) and not text.startswith(f"{getattr(value, '__name__', None)}(")


def has_example(value: object) -> bool:
    """An example in the docstring, or for a class in that of one of its public methods."""
    texts = [value.__doc__]
    if inspect.isclass(value):
        texts += [member.__doc__ for name, member in vars(value).items() if name[0] != "_"]
    return any(">>>" in (text or "") for text in texts)


def needs_example(value: object) -> bool:
    """Abstract classes are shown by their members, errors once at the root of their tree."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return value is tidegate.TidegateError
    if inspect.isclass(value):
        return not inspect.isabstract(value) and not getattr(value, "_is_protocol", False)
    return inspect.isfunction(value)


def public_modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(tidegate.__path__, "tidegate.")
    return [import_module(module.name) for module in found if module.name != "tidegate.__main__"]


def test_every_package_is_a_public_name() -> None:
    assert set(PACKAGES) <= set(tidegate.__all__)


def test_every_home_is_a_public_name() -> None:
    assert set(tidegate._HOMES) == set(tidegate.__all__) - set(PACKAGES)


def test_public_names_are_listed_once_and_in_order() -> None:
    assert list(tidegate.__all__) == sorted(set(tidegate.__all__))
    assert set(tidegate.__all__) < set(dir(tidegate))


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Learnr'"):
        tidegate.Learnr  # noqa: B018


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_exported_names_are_documented_with_an_example(package: str) -> None:
    module = import_module(f"tidegate.{package}".rstrip("."))
    assert module.__all__, "a public package says what it offers"
    names = exported(module)
    assert [name for name, value in names.items() if not is_documented(value)] == []
    bare = [name for name, value in names.items() if needs_example(value)]
    assert [name for name in bare if not has_example(names[name])] == []


def test_modules_classes_and_functions_are_documented() -> None:
    modules = public_modules()
    assert len(modules) > 5
    bare = [module.__name__ for module in modules if not module.__doc__]
    for module in modules:
        bare += [
            f"{module.__name__}.{name}" for name, v in own(module).items() if not is_documented(v)
        ]
    assert bare == []


def test_a_docstring_made_up_by_dataclass_does_not_count() -> None:
    @dataclass
    class Bare:
        size: int

    assert Bare.__doc__ and not is_documented(Bare)
