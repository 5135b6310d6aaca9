"""The forecaster on what streams bring: look-ahead, cuts, gaps, zones, spikes, quiet, regimes."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tidegate import DataError, UsageError
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.keyed import KeyedForecasters

HOUR = 3600.0


def daily(hours: int, seed: int = 0, noise: float = 0.3) -> np.ndarray:
    """A day's shape, smaller at weekends, and noise."""
    rng, hour = np.random.default_rng(seed), np.arange(hours)
    shape = 10 + 5 * np.sin(2 * np.pi * hour / 24) * np.where(hour // 24 % 7 < 5, 1.0, 0.4)
    return shape + noise * rng.normal(size=hours)


def fed(forecaster: Forecaster, values: np.ndarray, start: int = 0) -> list[str]:
    """What was said before and of every row, as text: NaN is not itself."""
    said = []
    for hour, value in enumerate(values.tolist(), start):
        before = forecaster.predict(hour * HOUR)
        said.append(repr((before, forecaster.learn(value, time=hour * HOUR))))
    return said


def small(**settings: object) -> Forecaster:
    return Forecaster(units=4, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", [5, 30, 240])
def test_the_future_changes_nothing_that_was_said(cut: int) -> None:
    values, garbage = daily(260), daily(260)
    garbage[cut:] = np.random.default_rng(9).choice([1e30, -7.0, np.nan, 0.0], size=260 - cut)
    mine, other = small(), small()
    assert fed(mine, values[:cut]) == fed(other, garbage[:cut])
    assert repr(mine.predict(cut * HOUR)) == repr(other.predict(cut * HOUR))


@pytest.mark.parametrize("cut", [30, 240])
def test_the_future_in_the_same_array_changes_nothing_that_was_said(cut: int) -> None:
    values, garbage = daily(260), daily(260)
    garbage[cut:] = np.random.default_rng(9).choice([1e30, -7.0, np.nan, 0.0], size=260 - cut)
    said, other = fed(small(), values), fed(small(), garbage)
    assert said[:cut] == other[:cut]
    assert said[cut].partition("), Outcome")[0] == other[cut].partition("), Outcome")[0]
    assert said[cut + 1 :] != other[cut + 1 :]


@pytest.mark.parametrize("cut", [0, 4, 9, 10, 100, 199])
def test_saved_and_resumed_anywhere_goes_on_to_the_bit(tmp_path: Path, cut: int) -> None:
    values = daily(200)
    values[[20, 21, 150]] = np.nan
    whole, half = small(horizon=3), small(horizon=3)
    expected = fed(whole, values)
    fed(half, values[:cut])
    half.save(tmp_path / "f.safetensors")
    resumed = Forecaster.load(tmp_path / "f.safetensors")
    assert fed(resumed, values[cut:], start=cut) == expected[cut:]
    assert repr(resumed.forecast(5)) == repr(whole.forecast(5))


def test_saved_and_resumed_without_times_too(tmp_path: Path) -> None:
    values = daily(400).tolist()
    whole = small()
    expected = []
    for n, value in enumerate(values):
        if n in (90, 160, 300):
            whole.save(tmp_path / f"{n}.safetensors")
        expected.append(repr((whole.predict(), whole.learn(value))))
    assert whole.periods[0] == 24
    for cut in (90, 160, 300):
        resumed = Forecaster.load(tmp_path / f"{cut}.safetensors")
        assert [repr((resumed.predict(), resumed.learn(v))) for v in values[cut:]] == expected[cut:]


def test_predicting_and_forecasting_change_nothing() -> None:
    asked, left = small(horizon=2), small(horizon=2)
    for hour, value in enumerate(daily(100).tolist()):
        asked.predict()
        asked.predict((hour + 7) * HOUR)
        asked.forecast(4)
        outcomes = [f.learn(value, time=hour * HOUR) for f in (asked, left)]
        assert repr(outcomes[0]) == repr(outcomes[1])
    assert repr(asked.forecast(4)) == repr(left.forecast(4))


def test_it_learns_a_season_better_than_its_simple_forecasts() -> None:
    values, forecaster, errors = daily(24 * 7 * 6), small(), []
    for hour, value in enumerate(values.tolist()):
        errors.append(abs(forecaster.predict(hour * HOUR).value - value))
        forecaster.learn(value, time=hour * HOUR)
    late = np.arange(24 * 7 * 4, 24 * 7 * 6)
    mine = np.array(errors)[late].mean()
    assert mine < 0.9 * np.abs(values[late] - values[late - 168]).mean()
    assert mine < 0.4 * np.abs(values[late] - values[late - 1]).mean()
    assert forecaster.periods == (24, 168)


def test_it_claims_no_skill_on_a_random_walk() -> None:
    values, forecaster = np.random.default_rng(5).normal(size=1500).cumsum(), small()
    errors = []
    for value in values.tolist():
        errors.append(abs(forecaster.predict().value - value))
        forecaster.learn(value)
    mine, persistence = np.mean(errors[300:]), np.abs(np.diff(values)[299:]).mean()
    assert 0.97 < mine / persistence < 1.06


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_missing_is_predicted_through(wrong: float) -> None:
    values = daily(24 * 15)
    clean = values.copy()
    values[[100, 250, 251, 252]] = wrong
    forecaster, errors = small(), []
    for hour, value in enumerate(values.tolist()):
        errors.append(abs(forecaster.predict(hour * HOUR).value - clean[hour]))
        outcome = forecaster.learn(value, time=hour * HOUR)
        assert ("missing" in outcome.flags) == (hour in (100, 250, 251, 252))
    assert np.isfinite(errors[1:]).all()
    assert max(errors[250:256]) < 4


def test_rows_that_are_absent_are_missing_rows() -> None:
    values = daily(24 * 10)
    absent, present = small(), small()
    for hour, value in enumerate(values.tolist()):
        gone = 200 <= hour < 205
        present.learn(np.nan if gone else value, time=hour * HOUR)
        if not gone:
            outcome = absent.learn(value, time=hour * HOUR)
            assert ("gap" in outcome.flags) == (hour == 205)
    assert absent.predict().value == present.predict().value


def test_nights_that_never_have_rows_are_no_gaps_to_go_through() -> None:
    rng, forecaster, errors = np.random.default_rng(1), small(), []
    for day in range(28):
        for hour in range(8, 18):
            value = 20 + 3 * (hour - 8) + rng.normal()
            time = (24 * day + hour) * HOUR
            errors.append(abs(forecaster.predict(time).value - value))
            forecaster.learn(value, time=time)
    assert forecaster.predict().seconds == (24 * 28 + 8) * HOUR
    assert np.mean(errors[-50:]) < 1.5
    mornings = errors[-50::10]
    assert max(mornings) < 5


def test_a_gap_of_years_costs_no_more_than_one_of_weeks() -> None:
    forecaster = small()
    fed(forecaster, daily(100))
    forecaster.learn(5.0, time=1e6 * 24 * HOUR)
    assert np.isfinite(forecaster.predict().value)


def test_late_and_repeated_rows_are_flagged_and_change_nothing() -> None:
    forecaster, plain = small(), small()
    for hour, value in enumerate(daily(60).tolist()):
        plain.learn(value, time=hour * HOUR)
        forecaster.learn(value, time=hour * HOUR)
        assert forecaster.learn(1e9, time=hour * HOUR).flags == ("late",)
        assert forecaster.learn(1e9, time=(hour - 0.5) * HOUR).flags == ("late",)
    assert repr(forecaster.predict()) == repr(plain.predict())


def test_slots_follow_the_clock_on_the_wall_through_daylight_saving() -> None:
    """A bell at 8:00 in Paris, before and after the clocks change on 2024-03-31."""
    zone = ZoneInfo("Europe/Paris")
    begin = datetime(2024, 3, 11, tzinfo=zone).timestamp()
    forecaster, errors = small(zone="Europe/Paris"), {}
    for hour in range(24 * 23):
        wall = datetime.fromtimestamp(begin + hour * HOUR, zone)
        value = 10.0 * (wall.hour == 8)
        errors[wall] = abs(forecaster.predict(wall).value - value)
        forecaster.learn(value, time=wall)
    bells = [
        e for wall, e in errors.items() if wall.hour == 8 and wall.date().isoformat() > "2024-03-31"
    ]
    assert len(bells) == 2 and max(bells) < 2


def test_a_zone_that_is_none_and_a_time_that_is_none_are_refused() -> None:
    with pytest.raises(UsageError, match="Mars"):
        Forecaster(zone="Mars/Olympus")
    with pytest.raises(DataError, match="soon"):
        small().learn(1.0, time="soon")
    with pytest.raises(UsageError, match="inputs"):
        small(inputs=2).learn(1.0, (1.0,))
    with pytest.raises(UsageError, match="coverage"):
        Forecaster(levels=(90.0,))


def test_irregular_dates_stand_on_a_grid_of_days() -> None:
    """The dates of a public question: 1, 2, 5, 14, 16, 19 of a month, and on like this."""
    forecaster, rng, day = small(), np.random.default_rng(3), datetime(2024, 1, 1)
    for _ in range(150):
        value = 5.0 * (day.weekday() == 6) + 0.1 * rng.normal()
        forecaster.learn(value, time=day)
        day += timedelta(days=int(rng.choice([1, 1, 1, 2, 3])))
    sunday = day + timedelta(days=(6 - day.weekday()) % 7)
    forecaster.reach(sunday)
    assert forecaster.step == 86_400.0 and forecaster.predict(sunday).value > 2.5


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-300, 1e300])
def test_a_constant_is_predicted_as_it_is(value: float) -> None:
    forecaster = small()
    for _ in range(60):
        forecaster.learn(value)
    assert forecaster.predict().value == value


def test_quiet_for_long_then_a_burst_stays_finite() -> None:
    forecaster = small()
    for value in [0.0] * 500 + [1.0] + [0.0] * 20 + [1e12, -1e12] * 20 + [0.0] * 300:
        prediction = forecaster.predict().value
        assert not abs(prediction) > 1e14
        forecaster.learn(value)
    assert abs(forecaster.predict().value) < 1e12


def test_a_spike_is_forgotten() -> None:
    values = daily(24 * 21)
    spiked = values.copy()
    spiked[24 * 14] = 1e6
    errors: dict[str, list[float]] = {"plain": [], "spiked": []}
    for name, stream in (("plain", values), ("spiked", spiked)):
        forecaster = small()
        for hour, value in enumerate(stream.tolist()):
            errors[name].append(abs(forecaster.predict(hour * HOUR).value - values[hour]))
            forecaster.learn(value, time=hour * HOUR)
    late = slice(24 * 18, None)
    assert np.mean(errors["spiked"][late]) < 2 * np.mean(errors["plain"][late])


def test_a_jump_of_scale_is_followed() -> None:
    values = daily(24 * 28)
    values[24 * 14 :] *= 1000
    forecaster, errors = small(), []
    for hour, value in enumerate(values.tolist()):
        errors.append(abs(forecaster.predict(hour * HOUR).value - value))
        forecaster.learn(value, time=hour * HOUR)
    assert np.mean(errors[24 * 25 :]) < 2 * np.abs(np.diff(values)[24 * 25 :]).mean()


def test_labels_that_come_late_change_nothing_before_they_come() -> None:
    """Forecasts ten steps ahead, made before ten rows that then differ, are the same."""
    first, second = small(), small()
    fed(first, daily(120))
    fed(second, daily(120))
    assert repr(first.forecast(10)) == repr(second.forecast(10))


def test_long_free_running_forecasts_do_not_go_flat() -> None:
    forecaster = small()
    fed(forecaster, daily(24 * 28))
    path = np.array([p.value for p in forecaster.forecast(24 * 7 * 3)])
    expected = daily(24 * 7 * 7, noise=0.0)[24 * 28 :]
    assert np.abs(path - expected).mean() < 0.6
    assert path[-168:].std() > 0.8 * expected[-168:].std()


def test_a_wave_nobody_named_goes_on_too() -> None:
    forecaster = small()
    for step in range(600):
        forecaster.learn(float(np.sin(step * 0.37)))
    path = np.array([p.value for p in forecaster.forecast(200)])
    assert path[-50:].std() > 0.5


def test_a_horizon_has_intervals_that_hold() -> None:
    forecaster, values = small(horizon=6, levels=(0.8,)), daily(24 * 7 * 6)
    inside: list[list[bool]] = [[] for _ in range(6)]
    for hour, value in enumerate(values.tolist()):
        if hour > 24 * 7 * 3:
            for k, ahead in enumerate(forecaster.forecast(6)):
                if hour + k < len(values):
                    low, high = ahead.intervals[0.8]
                    inside[k].append(low <= values[hour + k] <= high)
        forecaster.learn(value, time=hour * HOUR)
    assert all(0.7 < np.mean(lead) < 0.9 for lead in inside)


def test_levels_are_nested_and_hold() -> None:
    forecaster, values, inside = small(levels=(0.5, 0.9)), daily(24 * 60), []
    for hour, value in enumerate(values.tolist()):
        ends = forecaster.predict(hour * HOUR).intervals
        if ends:
            (low, high), (lower, higher) = ends[0.5], ends[0.9]
            assert lower <= low <= high <= higher
            inside.append((low <= value <= high, lower <= value <= higher))
        forecaster.learn(value, time=hour * HOUR)
    half, most = np.mean(inside[100:], axis=0)
    assert half == pytest.approx(0.5, abs=0.03) and most == pytest.approx(0.9, abs=0.02)


def test_counts_are_never_predicted_below_their_minimum() -> None:
    rng, forecaster = np.random.default_rng(2), small(minimum=0.0)
    for value in rng.poisson(0.4, size=300).tolist():
        said = forecaster.predict()
        assert not said.value < 0 and all(low >= 0 for low, _ in said.intervals.values())
        forecaster.learn(value)


def test_an_input_that_tells_the_next_value_is_used() -> None:
    rng = np.random.default_rng(4)
    hints, forecaster, errors = rng.normal(size=801), small(inputs=1), []
    for step in range(800):
        value = float(3 * hints[step])
        errors.append(abs(forecaster.predict().value - value))
        forecaster.learn(value, (float(hints[step + 1]) if step != 400 else np.nan,))
    assert np.mean(errors[600:]) < 0.6


def test_weights_of_experts_are_shares() -> None:
    forecaster = small()
    fed(forecaster, daily(50))
    weights = forecaster.predict().experts
    assert sum(weights.values()) == pytest.approx(1) and min(weights.values()) >= 0


def test_streams_of_different_keys_never_touch() -> None:
    streams = {key: daily(80, seed=n) for n, key in enumerate("abc")}
    alone = {key: small() for key in streams}
    together = KeyedForecasters(small)
    for hour in range(80):
        for key in sorted(streams, key=lambda k: hash((k, hour))):
            value = float(streams[key][hour])
            together.learn(key, value, time=hour * HOUR)
            alone[key].learn(value, time=hour * HOUR)
    for key, forecaster in alone.items():
        assert repr(together.predict(key)) == repr(forecaster.predict())


def test_keyed_streams_are_saved_and_let_go_by_age(tmp_path: Path) -> None:
    streams = KeyedForecasters(lambda: Forecaster(units=0), most=2)
    for key, value in (("a", 1.0), ("b", 2.0), ("a", 3.0), ("c", 4.0)):
        streams.learn(key, value)
    assert "b" not in streams and len(streams) == 2
    streams.save(tmp_path / "k.safetensors")
    again = KeyedForecasters(lambda: Forecaster(units=0), most=2)
    again.load(tmp_path / "k.safetensors")
    assert repr(again.predict("a")) == repr(streams.predict("a"))
    assert np.isnan(again.predict("b").value)
