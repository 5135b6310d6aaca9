"""The sealed bucket: formats held to what NumPy and torch compute."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tidegate import gates
from tidegate._core.errors import UsageError

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def gate(z: float, name: str) -> torch.Tensor:
    """1 / (1 + exp(-z)); in 16-bit formats computed in float32 and rounded."""
    wide = name in ("float16", "bfloat16")
    x = torch.tensor(z, dtype=torch.float32 if wide else DTYPES[name])
    return (1 / (1 + torch.exp(-x))).to(DTYPES[name])


@pytest.mark.parametrize("name", DTYPES)
def test_the_gate_is_sealed_from_there_and_not_before(name: str) -> None:
    form = gates.FORMATS[name]
    near = 1e-3 if form.wide else 1e-6  # float32 itself rounds before the 16-bit formats do
    assert gate(form.sealed_from * (1 + near), name) == 1
    largest = gate(form.sealed_from * (1 - near), name)
    assert largest < 1 and 1 - float(largest) == form.gap
    half_life = gates.half_life_from_retention(float(largest))
    assert form.longest_half_life == pytest.approx(half_life, rel=1e-12)


def test_figures_of_the_four_formats() -> None:
    sealed = {name: round(form.sealed_from, 2) for name, form in gates.FORMATS.items()}
    assert sealed == {"float64": 36.74, "float32": 16.64, "float16": 8.32, "bfloat16": 6.24}
    assert round(gates.FORMATS["float16"].longest_half_life) == 1419
    assert round(gates.FORMATS["bfloat16"].longest_half_life) == 177
    assert gates.FORMATS["float32"].longest_half_life == pytest.approx(5.8e6, rel=0.01)


@pytest.mark.parametrize(("name", "stall"), [("float16", 2048), ("bfloat16", 256)])
def test_5000_unit_writes_stall(name: str, stall: int) -> None:
    """Trouble 18."""
    total = torch.zeros((), dtype=DTYPES[name])
    for _ in range(5000):
        total = total + 1
    assert float(total) == stall == gates.FORMATS[name].stalls_at()


@pytest.mark.parametrize("write", [0.1, 0.75, 3.0, 0.0625])
def test_other_writes_stall_where_the_formula_says(write: float) -> None:
    step, total = np.float16(write), np.float16(0)
    while total + step != total:
        total = total + step
    assert float(total) == gates.FORMATS["float16"].stalls_at(float(step))


def test_float32_and_float64_stall_at_powers_of_two() -> None:
    for kind in (np.float32, np.float64):
        stall = kind(gates.FORMATS[kind.__name__].stalls_at())
        assert stall + kind(1) == stall
        before = np.nextafter(stall, kind(0))
        assert before + kind(1) == stall
    assert gates.FORMATS["float16"].stalls_at(60.0) == np.inf
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(60000) + np.float16(10000))


def test_wrong_names_and_writes_are_refused() -> None:
    with pytest.raises(UsageError, match="float8"):
        gates.format_named("float8")
    with pytest.raises(UsageError, match="above 0"):
        gates.format_named("float32").stalls_at(0.0)
