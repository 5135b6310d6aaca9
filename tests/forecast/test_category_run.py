"""A run over categories: order, losses beside those of simple forecasts, nothing seen early."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from tidegate import DataError
from tidegate._core.category_records import CategoryRecord
from tidegate.forecast import CategoryRun
from tidegate.streams import Row, SkipBadRows, StopAtBadRow
from tidegate.tasks import Reber


def run_of(**settings: object) -> CategoryRun:
    about = {"limit": 8, "units": 4, "warmup": 50} | settings
    return CategoryRun("demo", StopAtBadRow(), **about)  # type: ignore[arg-type]


def symbols(steps: int, seed: int = 1) -> list[str | None]:
    """A grammar, every 40th symbol of which is missing."""
    found = [Reber.alphabet[s] for s in Reber().stream(seed).block(steps).symbols]
    return [None if n % 40 == 30 else symbol for n, symbol in enumerate(found)]


def rows(categories: list[str | None], key: str | None = None) -> list[Row]:
    return [Row(n, None, np.zeros(0), key, c) for n, c in enumerate(categories, 1)]


def stepped(run: CategoryRun, given: list[Row]) -> list[CategoryRecord]:
    found = [run.step(row) for row in given]
    return [record for record in found if record is not None]


def test_records_say_what_was_said_before() -> None:
    records = stepped(run_of(), rows(symbols(300)))
    for before, record in zip(records, records[1:], strict=False):
        said = before.next.probabilities
        assert said is not None and before.next.other is not None
        assert list(said.values()) == sorted(said.values(), reverse=True)
        assert sum(said.values()) + before.next.other == pytest.approx(1, abs=1e-4)
        assert (record.prediction, record.probability) == next(iter(said.items()))
        assert before.next.prediction == record.prediction
        if record.actual is None:
            assert record.bits is None and "missing" in record.flags
        else:
            share = said.get(record.actual, before.next.other)
            assert record.bits == pytest.approx(-log2(share), abs=0.01 if share > 1e-3 else 1)


def test_losses_and_those_of_simple_forecasts_are_over_the_scored_rows() -> None:
    """Against counts kept here: of all, and after the last one as worth two more of all."""
    given = symbols(400)
    run = run_of()
    records = stepped(run, rows(given))
    none: Counter[str] = Counter()
    one: dict[str | None, Counter[str]] = defaultdict(Counter)
    last, bits, seen = None, defaultdict(list), set[str]()
    for step, symbol in enumerate(given, 1):
        if symbol is not None:
            share = (none[symbol] + 2 / 8) / (none.total() + 2)
            after = (one[last][symbol] + 2 * share) / (one[last].total() + 2)
            seen |= {symbol}
            if step > 50:
                bits["frequencies"].append(-log2(share))
                bits["after last"].append(-log2(after))
                bits["uniform"].append(log2(len(seen)))
            none[symbol] += 1
            one[last][symbol] += 1
        last = symbol
    found = run.summary()
    for name, losses in bits.items():
        assert found["bits"][name] == pytest.approx(np.mean(losses)), name
    scored = [r for r in records if r.step > 50 and r.actual is not None]
    ours = np.mean([r.bits for r in scored])
    assert found["scored"] == len(scored) and found["bits"]["tidegate"] == pytest.approx(ours)
    assert found["saved"]["uniform"] == pytest.approx(1 - ours / np.mean(bits["uniform"]))
    wrong = np.mean([r.prediction != r.actual for r in scored])
    assert found["missed"]["tidegate"] == pytest.approx(wrong)
    assert found["flags"] == {"missing": 10, "new": 7, "warmup": 50}


def test_nothing_is_seen_before_its_time() -> None:
    given = symbols(300)
    garbage = [*given[:200], *["Z", None, "B"] * 33]
    one, two = (stepped(run_of(), rows(s)) for s in (given, garbage))
    assert one[:200] == two[:200]
    late = [replace(r, actual=None, bits=None, flags=(), next=one[0].next) for r in (one + two)]
    assert late[200] == late[500], "what was said of the first row that differs"
    assert one[201:] != two[201:]


@pytest.mark.parametrize("cut", [0, 1, 130])
def test_a_run_goes_on_to_the_bit(cut: int) -> None:
    given = [row for pair in zip(rows(symbols(150), "a"), rows(symbols(150, 2), "b"), strict=True)
             for row in pair]  # fmt: skip
    whole, first, second = run_of(), run_of(), run_of()
    expected = stepped(whole, given)
    stepped(first, given[:cut])
    second.restore(first.state())
    assert stepped(second, given[cut:]) == expected[cut:]
    assert second.summary() == whole.summary()


def test_streams_by_key_do_not_touch_each_other() -> None:
    one, two = rows(symbols(120), "a"), rows(symbols(120, 2), "b")
    together = stepped(run_of(), [row for pair in zip(one, two, strict=True) for row in pair])
    alone = stepped(run_of(), two)
    mine = [replace(record, step=n) for n, record in enumerate(together[1::2], 1)]
    assert mine == alone


def test_the_stream_that_was_silent_longest_is_forgotten() -> None:
    run = run_of(most=1)
    stepped(run, [*rows(["x"] * 5, "a"), *rows(["y"] * 5, "b"), *rows(["x"], "a")])
    assert run.summary()["keys"] == {"kept": 1, "forgotten": 2}


def test_what_has_no_place_is_another_one() -> None:
    run = run_of(limit=3)
    records = stepped(run, rows(list("ababcabc")))
    assert [r.step for r in records if "new" in r.flags] == [1, 2]
    assert [r.step for r in records if "other" in r.flags] == [5, 8]
    assert run.summary()["categories"] == {"known": 2, "most": 2}


def test_times_are_read_as_ever() -> None:
    dated = [
        Row(n, f"2021-01-0{day}", np.zeros(0), None, "x") for n, day in enumerate((1, 2, 5, 4), 1)
    ]
    run = run_of()
    records = stepped(run, dated[:3])
    assert records[1].next.time == "2021-01-03"
    assert "gap" in records[2].flags
    with pytest.raises(DataError, match="demo, row 4, column 'time'"):
        run.step(dated[3])
    passed_over = CategoryRun("demo", SkipBadRows(), limit=8, units=4)
    assert len(stepped(passed_over, dated)) == 3


def test_half_lives_are_told_after_the_first_look() -> None:
    records = stepped(run_of(), rows(symbols(150)))
    lives = [record.half_lives or {} for record in records]
    assert set(lives[126].values()) == {None}
    assert len(lives[127]) == 2 and min(x or 0 for x in lives[127].values()) > 0
