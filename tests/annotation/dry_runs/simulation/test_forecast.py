import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from annotation.dry_runs.simulation.answers import Ladder, answer, latent_quality
from annotation.dry_runs.simulation.arrivals import DurationForecast, Workload, duration_forecast
from annotation.dry_runs.simulation.forecast import cost_forecast, detection_forecast
from annotation.dry_runs.simulation.raters import PopulationTraits, SimulatedRater, population
from annotation.weighting.linear import linear_weights
from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import RatingTable

MONEY = {"payment_per_unit": Decimal("0.10"), "fee_percent": Decimal("33.3")}


def cost(**changes):
    numbers = {"paid_screens": 120, "paid_seconds": 1800.0, "filled": 100, "places": 100, **MONEY}
    return cost_forecast(**{**numbers, **changes})


def test_a_finished_dry_run_costs_what_its_screens_cost():
    forecast = cost()
    assert (forecast.screens, forecast.pay, forecast.fees, forecast.total) == (
        120,
        *map(Decimal, ("12.00", "4.00", "16.00")),
    )
    assert forecast.per_rating == Decimal("0.16")
    assert forecast.pay_per_hour == pytest.approx(24)


def test_costs_are_extrapolated_to_all_slots():
    forecast = cost(places=1001)
    assert forecast.screens == 1202  # 1201.2: a part of a screen is paid as one
    assert forecast.pay == Decimal("120.20")
    assert forecast.pay_per_hour == pytest.approx(24)


def test_money_is_exact_and_rounded_half_up_to_cents():
    forecast = cost(paid_screens=1, filled=1, places=1, payment_per_unit=Decimal("0.125"), fee_percent=Decimal(20))
    assert (forecast.pay, forecast.fees, forecast.total) == (Decimal("0.13"), Decimal("0.03"), Decimal("0.16"))


def test_unpaid_work_costs_nothing_and_unknown_time_gives_no_hourly_pay():
    assert cost(payment_per_unit=Decimal(0)).total == 0
    assert math.isnan(cost(paid_seconds=0).pay_per_hour)


@given(st.integers(0, 500), st.integers(1, 500), st.integers(1, 10**6))
def test_a_larger_campaign_never_costs_less_than_in_proportion(paid, filled, places):
    forecast = cost(paid_screens=paid, filled=filled, places=places)
    assert forecast.screens * filled >= paid * places
    assert (forecast.screens - 1) * filled < paid * places
    assert forecast.total == forecast.pay + forecast.fees


@given(st.integers(1, 40), st.integers(1, 200), st.data())
def test_recall_and_false_alarms_have_wilsons_interval(n_spammers, n_honest, data):
    caught, wrong = data.draw(st.integers(0, n_spammers)), data.draw(st.integers(0, n_honest))
    spammers, honest = range(n_spammers), range(1000, 1000 + n_honest)
    struck = {*spammers[:caught], *honest[:wrong]}
    detection = detection_forecast(spammers=spammers, struck=struck, worked=[*spammers, *honest])
    assert (detection.recall, detection.false_alarms) == (caught / n_spammers, wrong / n_honest)
    assert (detection.spammers, detection.struck_spammers) == (n_spammers, caught)
    assert (detection.honest, detection.struck_honest) == (n_honest, wrong)
    # statsmodels' proportion_confint
    recall = proportion_confint(caught, n_spammers, method="wilson")
    alarms = proportion_confint(wrong, n_honest, method="wilson")
    assert (detection.recall_low, detection.recall_high) == pytest.approx(recall, abs=1e-12)
    assert (detection.false_alarms_low, detection.false_alarms_high) == pytest.approx(alarms, abs=1e-12)


def test_raters_without_answers_are_not_counted():
    detection = detection_forecast(spammers={1, 2, 3}, struck={2, 3, 8}, worked=[1, 2, 2, 5])
    assert (detection.spammers, detection.struck_spammers, detection.honest, detection.struck_honest) == (2, 1, 1, 0)


def test_without_spammers_recall_is_undefined_with_a_reason():
    detection = detection_forecast(spammers=[], struck=[], worked=[1])
    assert math.isnan(detection.recall)
    assert (detection.false_alarms, detection.reason) == (0, "no spammer answered anything")
    assert detection_forecast(spammers=[1], struck=[], worked=[1]).reason == "no honest rater answered anything"


def simulated(seed=7, *, noise=0.12, n_raters=40, units=60, k=8):
    """A campaign of single responses on 5 points without the product: every rater rates k * units / n_raters."""
    raters = population(n_raters, PopulationTraits(noise=noise, spam_share=0.2, median_seconds=15), seed=seed)
    quality = latent_quality(np.arange(units), seed)
    slot = np.arange(units * k)
    rater, response = slot % n_raters, slot // k
    value = [answer(raters[r], quality[u], Ladder(1, 5)) for r, u in zip(rater, response, strict=True)]
    seconds = [raters[r].seconds() for r in rater]
    return raters, RatingTable(response, rater, value), seconds


def simulated_weights(seed=7, **options):
    raters, table, _ = simulated(seed, **options)
    return raters, table, linear_weights(table, 1, 5)


def campaign_duration(raters, workload, seed, **options):
    return duration_forecast(workload, raters, rng=np.random.default_rng(seed), **options)


def test_agreement_catches_most_spammers_of_a_simulated_campaign_and_few_others():
    raters, table, _ = simulated()
    agreement = summarise_raters(table).agreement
    struck = np.flatnonzero((agreement < 0.3) | np.isnan(agreement)).tolist()
    spammers = {index for index, rater in enumerate(raters) if rater.is_spammer}
    result = detection_forecast(spammers=spammers, struck=struck, worked=table.rater.tolist())
    assert (result.spammers, result.honest) == (8, 32)
    assert result.recall >= 0.75
    assert result.false_alarms <= 0.1


def test_a_forecast_extrapolates_to_the_full_campaign():
    raters, _, seconds = simulated()
    workload = Workload(600, 8, max_units_per_rater=30)
    duration = campaign_duration(raters, workload, 7, arrivals_per_hour=20, n_replicates=5)
    result = cost(
        paid_screens=len(seconds), paid_seconds=sum(seconds), filled=480, places=workload.slots, duration=duration
    )
    assert result.screens == 4800
    assert result.pay == Decimal("480.00")
    assert duration.raters_low >= 160  # 4800 slots, 30 at most for each


def test_noisier_raters_make_wider_intervals():
    noisy, calm = (
        np.nanmean(weights.high - weights.low)
        for _, _, weights in (simulated_weights(noise=0.4), simulated_weights(noise=0.05))
    )
    assert noisy > calm + 0.1


def test_a_forecast_depends_on_its_seed():
    first, repeated, other_seed = (
        campaign_duration(simulated(seed)[0], Workload(600, 8), seed, arrivals_per_hour=20, n_replicates=5)
        for seed in (7, 7, 8)
    )
    assert first == repeated != other_seed


def test_the_cost_comes_from_the_simulated_campaigns():
    raters = [SimulatedRater(seed=1, median_seconds=60, screen_sd=0)]
    workload = Workload(30, 1, checks_per_unit=1)
    duration = campaign_duration(raters, workload, 1, arrivals_per_hour=0.001, n_replicates=1)
    result = cost(paid_screens=6, paid_seconds=360.0, filled=3, places=workload.slots, duration=duration)
    assert duration.rater_hours == pytest.approx(59 / 60)  # a check after each unit but the last
    assert result.screens == duration.screens == 59
    assert result.total_low == result.total == result.total_high


def test_the_dry_runs_own_screens_are_scaled_up_if_the_simulated_campaigns_never_end():
    assert cost(places=1001, duration=DurationForecast(n_replicates=3)) == cost(places=1001)


def test_raters_who_fail_the_test_are_paid_for_it_and_fill_nothing():
    raters = [SimulatedRater(seed=seed, median_seconds=60, screen_sd=0) for seed in (1, 2)]
    workload = Workload(200, 1, max_units_per_rater=1, screens_before_work=2)
    result = duration_forecast(
        workload, raters, arrivals_per_hour=60, rng=np.random.default_rng(3), n_replicates=40, qualifies=[True, False]
    )
    assert result.raters == 200
    # Each of the 200 who work answers 3 screens; as many again fail, in the mean, after 2.
    assert result.screens == pytest.approx(200 * 3 + 200 * 2, rel=0.05)
    assert result.hours_p10 <= result.hours_p50 <= result.hours_p90


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost(filled=0), "filled is 0; accepted: 1 or more"),
        (lambda: cost(paid_screens=-1), "paid_screens is -1; accepted: 0 or more"),
        (lambda: cost(fee_percent=Decimal(-1)), "fee_percent is -1; accepted: 0 or more"),
    ],
)
def test_invalid_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
