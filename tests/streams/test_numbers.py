"""The text of a cell as a number."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.streams import decimal_comma, decimal_point

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_a_number_reads_back_to_the_same_bits(value: float) -> None:
    assert decimal_point(repr(value)).hex() == value.hex()
    assert decimal_comma(repr(value).replace(".", ",")).hex() == value.hex()


@pytest.mark.parametrize(
    ("text", "value"),
    [(" 12 ", 12.0), ("\t-1.5e3", -1500.0), (".5", 0.5), ("5.", 5.0), ("+7", 7.0), ("1e-400", 0.0)],
)
def test_numbers(text: str, value: float) -> None:
    assert decimal_point(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "   ", "NaN", "nan", "-NaN", "NA", "n/a", "#N/A", "NULL", "None", "?", "-", "."]
    + ["inf", "-Inf", "Infinity", "1e400", "-1e400", " NA "],
)
def test_missing(text: str) -> None:
    assert isnan(decimal_point(text))
    assert isnan(decimal_comma(text))


@pytest.mark.parametrize(
    "text",
    ["abc", "1_000", "1,000", "12 MW", "0x10", "1e", "--1", "nan(1)", "1 2", "True", "\udcff"],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decimal_point(text)


@pytest.mark.parametrize("text", ["1.234", "1.234,5", "1,2,3", "1_000"])
def test_a_point_is_refused_where_the_comma_is_the_mark(text: str) -> None:
    with pytest.raises(ValueError):
        decimal_comma(text)
