"""Machine code says what the same source says as Python; and goes by all of its source."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

SCRIPT = """
import numpy as np
from tidegate import Forecaster

rng = np.random.default_rng(0)
forecaster = Forecaster(units=2, horizon=3, inputs=1, levels=(0.5, 0.9))
said = []
for hour in range(130):
    value = 10 * np.sin(hour * 2 * np.pi / 24) + rng.normal()
    if hour % 19 != 5:
        value = np.nan if hour % 23 == 7 else value * 1e3 if hour == 60 else value
        forecaster.learn(float(value), [rng.normal()], time=3600.0 * hour)
    path = forecaster.forecast(3)
    ends = [x for p in path for end in p.intervals.values() for x in end]
    said.append([p.value for p in path] + ends)
print(repr([[float(x) for x in row] for row in said]))
"""


def run(**environment: str) -> list[list[float]]:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    found: list[list[float]] = eval(ran.stdout, {"nan": np.nan, "inf": np.inf})
    return found


@pytest.fixture(scope="module")
def machine_code() -> list[list[float]]:
    return run()


def test_the_reference_says_the_same(machine_code: list[list[float]]) -> None:
    reference = run(TIDEGATE_REFERENCE="1")
    assert [len(row) for row in machine_code] == [len(row) for row in reference]
    for compiled, plain in zip(machine_code, reference, strict=True):
        assert compiled == pytest.approx(plain, rel=1e-4, abs=1e-4, nan_ok=True)


def test_where_nothing_can_be_written_it_is_compiled_every_time(tmp_path: Path) -> None:
    script = (
        "from tidegate.forecast.model.scale import RunningScale\n"
        "scale = RunningScale(9)\n"
        "scale.update(2.0)\n"
        "print(scale.value)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NUMBA_CACHE_DIR": "/dev/null/absent"},
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "2.0\n", ran.stderr


def test_it_is_known_whether_the_first_row_has_to_wait(tmp_path: Path) -> None:
    script = (
        "import shutil, tidegate, sys\n"
        "from pathlib import Path\n"
        "package = Path(tidegate.__file__).parent\n"
        "shutil.copytree(package, sys.argv[1], ignore=shutil.ignore_patterns('*.nb?'))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "tidegate")], check=True)
    asks = (
        "from tidegate.forecast.model.scale import take_size\n"
        "from tidegate.forecast.compiled import kept\n"
        "import numpy as np\n"
        "print(kept(take_size))\n"
        "take_size(np.zeros(2), 1.0, 9.0)\n"
        "print(kept(take_size))"
    )
    said = []
    for text in ("", "# another text"):
        with (tmp_path / "tidegate" / "forecast" / "compiled.py").open("a") as source:
            source.write(text)
        ran = subprocess.run(
            [sys.executable, "-c", asks], env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said.append(ran.stdout.split())
    assert said == [["False", "True"], ["False", "True"]]


def test_code_of_sources_that_are_gone_is_made_anew(tmp_path: Path) -> None:
    script = (
        "import numpy as np\n"
        "from tidegate.forecast.model.scale import take_size\n"
        "scale = np.zeros(2)\n"
        "take_size(scale, 2.0, 9.0)\n"
        "print(scale.sum())"
    )
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True, text=True,
        )  # fmt: skip
        assert ran.returncode == 0 and float(ran.stdout) == 3.0, ran.stderr
        (index,) = tmp_path.rglob("scale.take_size*.nbi")
        gone = b"ctidegate.forecast.horizon\nGone\n."  # a name that a later version has not
        index.write_bytes(pickle.dumps(numba.__version__) + gone)
