"""What the wheel carries, and what it asks for."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        yield archive


def test_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "tidegate").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= set(wheel.namelist())
    assert "tidegate/py.typed" in wanted


def test_wheel_holds_a_shipped_stream(wheel: zipfile.ZipFile) -> None:
    shipped = [name for name in wheel.namelist() if name.startswith("tidegate/datasets/")]
    assert any(name.endswith((".csv", ".csv.gz", ".parquet")) for name in shipped)


def test_wheel_runs_on_every_machine(wheel: zipfile.ZipFile) -> None:
    assert Path(wheel.filename).name.endswith("-py3-none-any.whl")


def test_torch_is_asked_for_by_extras_only(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    asked = [line for line in wheel.read(name).decode().splitlines() if "Requires-Dist" in line]
    about_torch = [line for line in asked if line.startswith("Requires-Dist: torch")]
    assert about_torch and all("extra ==" in line for line in about_torch)
