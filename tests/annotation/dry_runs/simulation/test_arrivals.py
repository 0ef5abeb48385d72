import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from annotation.dry_runs.simulation.arrivals import Workload, duration_forecast
from annotation.dry_runs.simulation.raters import PopulationTraits, SimulatedRater, population

INSTANT = [SimulatedRater(seed=1, median_seconds=1e-6, screen_sd=0)]
MINUTE = [SimulatedRater(seed=1, median_seconds=60, screen_sd=0)]


def forecast_of(workload, raters=MINUTE, *, per_hour=10.0, seed=1, n=400):
    rng = np.random.default_rng(seed)
    return duration_forecast(workload, raters, arrivals_per_hour=per_hour, rng=rng, n_replicates=n)


def test_with_one_answer_per_rater_the_duration_is_the_arrival_of_the_last():
    # The n-th arrival of a Poisson process is gamma distributed: mean n / rate, standard deviation sqrt(n) / rate.
    forecast = forecast_of(Workload(20, 1, max_units_per_rater=1), INSTANT, n=2000)
    oracle = stats.gamma(20, scale=1 / 10)
    assert forecast.hours == pytest.approx(oracle.mean(), abs=4 * oracle.std() / math.sqrt(2000))
    assert (forecast.hours_low, forecast.hours_high) == pytest.approx(oracle.ppf([0.025, 0.975]), rel=0.05)
    assert (forecast.raters, forecast.raters_low, forecast.raters_high) == (20, 20, 20)


def test_a_single_rater_takes_the_sum_of_their_seconds():
    forecast = forecast_of(Workload(30, 1), per_hour=0.001, n=1)
    assert forecast.raters == 1
    assert forecast.rater_hours == pytest.approx(0.5)


def test_if_all_raters_arrive_at_once_the_duration_is_one_screen():
    forecast = forecast_of(Workload(50, 1), per_hour=1e9, n=20)
    assert forecast.hours == pytest.approx(1 / 60, rel=1e-3)
    assert forecast.raters == 50


def test_a_unit_takes_as_many_raters_as_it_has_slots():
    assert forecast_of(Workload(1, 7), n=50).raters == 7


def test_rater_hours_are_the_log_normal_mean_times_the_number_of_screens():
    raters = [SimulatedRater(seed=1, median_seconds=30, screen_sd=0.5)]
    forecast = forecast_of(Workload(100, 5), raters, n=40)
    seconds = stats.lognorm(0.5, scale=30)
    expected = 500 * seconds.mean() / 3600
    assert forecast.rater_hours == pytest.approx(expected, abs=4 * seconds.std() * math.sqrt(500 / 40) / 3600)


def test_checks_and_training_add_their_screens():
    # One rater, minutes each: 3 screens of training, 30 units, and 29 times half a check between two units.
    workload = Workload(30, 1, checks_per_unit=0.5, screens_before_work=3)
    forecast = forecast_of(workload, per_hour=0.001, n=400)
    assert forecast.rater_hours == pytest.approx((3 + 30 + 14.5) / 60, abs=4 * math.sqrt(29 * 0.25 / 400) / 60)
    assert forecast_of(Workload(30, 1, checks_per_unit=2), per_hour=0.001, n=1).rater_hours == pytest.approx(
        (30 + 58) / 60
    )


def test_a_pause_between_units_counts_between_hand_outs():
    # Equal arrivals: the two forecasts differ by the pauses alone.
    swift, paced = (
        forecast_of(Workload(11, 1, seconds_between_units=pause), INSTANT, per_hour=0.001, n=1) for pause in (0, 360)
    )
    assert paced.hours - swift.hours == pytest.approx(1.0)
    assert paced.rater_hours == pytest.approx(0, abs=1e-6)


def test_the_number_of_raters_grows_with_the_dropout():
    # How many raters it takes for one answer is geometric: mean 1 / (1 - d).
    raters = [SimulatedRater(seed=1, median_seconds=1, dropout=0.25)]
    forecast = forecast_of(Workload(1, 1), raters, n=3000)
    oracle = stats.geom(0.75)
    assert forecast.raters == pytest.approx(oracle.mean(), abs=4 * oracle.std() / math.sqrt(3000))


def test_the_slot_of_a_rater_who_leaves_is_free_when_its_lease_ends():
    raters = [SimulatedRater(seed=1, median_seconds=1e-6, screen_sd=0, dropout=0.5)]
    # All raters are there at once, so each one who leaves costs one lease: 1 on average.
    forecast = forecast_of(Workload(1, 1, lease_seconds=3600), raters, per_hour=1000, n=1500)
    assert forecast.hours == pytest.approx(1, abs=4 * stats.geom(0.5).std() / math.sqrt(1500) + 0.01)


def test_more_arrivals_shorten_the_campaign_and_limits_lengthen_it():
    raters = population(30, PopulationTraits(), seed=2)
    free = forecast_of(Workload(200, 3), raters, n=20)
    assert forecast_of(Workload(200, 3), raters, per_hour=400, n=20).hours_high < free.hours_low
    assert forecast_of(Workload(200, 3, max_units_per_rater=5), raters, n=20).hours_low > free.hours_high


def test_if_all_raters_leave_the_duration_is_undefined_with_a_reason():
    leavers = [SimulatedRater(seed=1, dropout=1)]
    for workload in (Workload(5, 2), Workload(5, 2, screens_before_work=1)):
        forecast = forecast_of(workload, leavers, n=2)
        assert math.isnan(forecast.hours)
        assert math.isnan(forecast.rater_hours)
        assert forecast.reason == "raters leave before the slots are filled, however many come"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.none() | st.integers(1, 5), st.floats(0, 0.5), st.integers(0, 2**32))
def test_a_forecast_has_enough_raters_and_depends_on_the_seed_alone(units, k, most, dropout, seed):
    raters = population(5, PopulationTraits(dropout=dropout), seed=seed)
    workload = Workload(units, k, max_units_per_rater=most, checks_per_unit=0.3)
    forecast = forecast_of(workload, raters, seed=seed, n=3)
    assert forecast == forecast_of(workload, raters, seed=seed, n=3)
    assert 0 < forecast.hours_low <= forecast.hours <= forecast.hours_high
    assert forecast.raters_low >= max(k, math.ceil(units * k / most) if most else 1)
    assert forecast.raters <= 20 * units * k + 1001


def test_a_forecast_does_not_consume_the_raters_random_numbers():
    rater = SimulatedRater(seed=3)
    forecast_of(Workload(5, 2), [rater], n=3)
    assert rater.seconds() == SimulatedRater(seed=3).seconds()


@pytest.mark.parametrize(("units", "replicates"), [(10, 200), (10_000, 20), (100_000, 3)])
def test_small_campaigns_have_more_replicates(units, replicates):
    forecast = duration_forecast(Workload(units, 1), INSTANT, arrivals_per_hour=1, rng=np.random.default_rng(1))
    assert forecast.n_replicates == replicates


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Workload(0, 1), "units is 0; accepted: 1 or more"),
        (lambda: Workload(1, 0), "ratings_per_unit is 0"),
        (lambda: Workload(1, 1, max_units_per_rater=0), "max_units_per_rater is 0; accepted: 1 or more, or None"),
        (lambda: Workload(1, 1, checks_per_unit=-1), "checks_per_unit is -1; accepted: 0 or more"),
        (lambda: Workload(1, 1, screens_before_work=-1), "screens_before_work is -1"),
        (lambda: Workload(1, 1, lease_seconds=math.nan), "lease_seconds is nan"),
        (lambda: Workload(1, 1, seconds_between_units=-1), "seconds_between_units is -1"),
        (lambda: forecast_of(Workload(1, 1), []), "raters is empty; accepted: at least one"),
        (lambda: forecast_of(Workload(1, 1), per_hour=0), "arrivals_per_hour is 0; accepted: a number above 0"),
        (lambda: forecast_of(Workload(1, 1), n=0), "n_replicates is 0"),
    ],
)
def test_values_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
