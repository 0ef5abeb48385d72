import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from annotation.dry_runs.simulation.answers import Ladder, answer, latent_quality
from annotation.dry_runs.simulation.arrivals import Workload, duration_forecast
from annotation.dry_runs.simulation.forecast import (
    SimulatedLog,
    cost_forecast,
    detection_forecast,
    forecast,
    width_forecast,
)
from annotation.dry_runs.simulation.raters import SimulatedRater, population
from annotation.weighting.linear import linear_weights
from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import RatingTable

MONEY = {"payment_per_unit": Decimal("0.10"), "fee_percent": Decimal("33.3")}


def cost(**changes):
    numbers = {"paid_screens": 120, "paid_seconds": 1800.0, "filled": 100, "places": 100, **MONEY}
    return cost_forecast(**{**numbers, **changes})


def test_a_finished_dry_run_costs_what_its_screens_cost():
    found = cost()
    assert (found.screens, found.pay, found.fees, found.total) == (120, *map(Decimal, ("12.00", "4.00", "16.00")))
    assert found.per_rating == Decimal("0.16")
    assert found.pay_per_hour == pytest.approx(24)


def test_a_part_of_the_campaign_is_carried_over_to_all_of_its_places():
    found = cost(places=1001)
    assert found.screens == 1202  # 1201.2: a part of a screen is paid as one
    assert found.pay == Decimal("120.20")
    assert found.pay_per_hour == pytest.approx(24)


def test_money_is_exact_and_rounded_half_up_to_cents():
    found = cost(paid_screens=1, filled=1, places=1, payment_per_unit=Decimal("0.125"), fee_percent=Decimal(20))
    assert (found.pay, found.fees, found.total) == (Decimal("0.13"), Decimal("0.03"), Decimal("0.16"))


def test_unpaid_work_costs_nothing_and_unknown_time_earns_nothing_that_can_be_said():
    assert cost(payment_per_unit=Decimal(0)).total == 0
    assert math.isnan(cost(paid_seconds=0).pay_per_hour)


@given(st.integers(0, 500), st.integers(1, 500), st.integers(1, 10**6))
def test_a_larger_campaign_never_costs_less_than_in_proportion(paid, filled, places):
    found = cost(paid_screens=paid, filled=filled, places=places)
    assert found.screens * filled >= paid * places
    assert (found.screens - 1) * filled < paid * places
    assert found.total == found.pay + found.fees


def test_widths_leave_out_weights_without_an_interval():
    found = width_forecast([-0.2, 0.0, 0.5, math.nan], [0.4, 0.2, 0.6, math.nan])
    assert (found.mean_width, found.median_width) == pytest.approx((0.3, 0.2))
    assert (found.n, found.n_without, found.reason) == (3, 1, "")


@pytest.mark.parametrize("ends", [[], [math.nan, math.nan]])
def test_no_interval_at_all_is_undefined_with_a_reason(ends):
    found = width_forecast(ends, ends)
    assert math.isnan(found.mean_width)
    assert found.n_without == len(ends)
    assert found.reason == "no weight has an interval: it takes two raters"


@given(st.integers(1, 40), st.integers(1, 200), st.data())
def test_recall_and_false_alarms_have_wilsons_interval(n_spammers, n_honest, data):
    caught, wrong = data.draw(st.integers(0, n_spammers)), data.draw(st.integers(0, n_honest))
    spammers, honest = range(n_spammers), range(1000, 1000 + n_honest)
    struck = {*spammers[:caught], *honest[:wrong]}
    found = detection_forecast(spammers=spammers, struck=struck, worked=[*spammers, *honest])
    assert (found.recall, found.false_alarms) == (caught / n_spammers, wrong / n_honest)
    assert (found.spammers, found.struck_spammers) == (n_spammers, caught)
    assert (found.honest, found.struck_honest) == (n_honest, wrong)
    # statsmodels' proportion_confint
    recall = proportion_confint(caught, n_spammers, method="wilson")
    alarms = proportion_confint(wrong, n_honest, method="wilson")
    assert (found.recall_low, found.recall_high) == pytest.approx(recall, abs=1e-12)
    assert (found.false_alarms_low, found.false_alarms_high) == pytest.approx(alarms, abs=1e-12)


def test_raters_who_answered_nothing_count_nowhere():
    found = detection_forecast(spammers={1, 2, 3}, struck={2, 3, 8}, worked=[1, 2, 2, 5])
    assert (found.spammers, found.struck_spammers, found.honest, found.struck_honest) == (2, 1, 1, 0)


def test_without_spammers_recall_is_undefined_with_a_reason():
    found = detection_forecast(spammers=[], struck=[], worked=[1])
    assert math.isnan(found.recall)
    assert (found.false_alarms, found.reason) == (0, "no spammer answered anything")
    assert detection_forecast(spammers=[1], struck=[], worked=[1]).reason == "no honest rater answered anything"


def simulated(seed=7, *, noise=0.12, n_raters=40, units=60, k=8):
    """A campaign of single responses on 5 points without the product: every rater rates k * units / n_raters."""
    raters = population(n_raters, seed=seed, noise=noise, spam_share=0.2, median_seconds=15)
    quality = latent_quality(np.arange(units), seed)
    place = np.arange(units * k)
    rater, response = place % n_raters, place // k
    value = [answer(raters[r], quality[u], Ladder(1, 5)) for r, u in zip(rater, response, strict=True)]
    seconds = [raters[r].seconds() for r in rater]
    return raters, RatingTable(response, rater, value), seconds


def foretold(seed=7, **options):
    raters, table, seconds = simulated(seed, **options)
    summary = summarise_raters(table)
    struck = np.flatnonzero((summary.agreement < 0.3) | np.isnan(summary.agreement)).tolist()
    weights = linear_weights(table, 1, 5, n_bootstrap=200)
    return forecast(
        SimulatedLog(table.rater, seconds, np.ones(len(table), bool)),
        raters,
        workload=Workload(600, 8, max_units_per_rater=30),
        struck=struck,
        low=weights.low,
        high=weights.high,
        arrivals_per_hour=20,
        seed=seed,
        n_replicates=5,
        **MONEY,
    )


def test_agreement_catches_most_spammers_of_a_simulated_campaign_and_few_others():
    found = foretold().detection
    assert (found.spammers, found.honest) == (8, 32)
    assert found.recall >= 0.75
    assert found.false_alarms <= 0.1


def test_a_forecast_carries_a_part_over_to_the_whole_campaign():
    found = foretold()
    assert found.cost.screens == 4800
    assert found.cost.pay == Decimal("480.00")
    assert found.duration.raters_low >= 160  # 4800 places, 30 at most for each
    assert found.width.n == 60


def test_noisier_raters_make_wider_intervals():
    assert foretold(noise=0.4).width.mean_width > foretold(noise=0.05).width.mean_width + 0.1


def test_a_forecast_is_reproduced_by_its_seed_and_differs_by_another():
    assert foretold().to_dict() == foretold().to_dict()
    assert foretold(seed=8).to_dict() != foretold().to_dict()


def test_a_forecast_is_data_that_json_holds():
    raters = [SimulatedRater(seed=1)]
    found = forecast(
        SimulatedLog([0, 0], [3.0, 4.0], [True, False], [True, False]),
        raters,
        workload=Workload(1, 1),
        struck=[],
        low=[math.nan],
        high=[math.nan],
        arrivals_per_hour=1,
        seed=1,
        n_replicates=2,
        **MONEY,
    )
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["cost"]["total"] == "0.13"
    assert data["detection"]["recall"] is None
    assert data["width"] == {
        "mean_width": None,
        "median_width": None,
        "n": 0,
        "n_without": 1,
        "reason": "no weight has an interval: it takes two raters",
    }


def test_cost_is_that_of_the_campaigns_played_through():
    raters = [SimulatedRater(seed=1, median_seconds=60, screen_sd=0)]
    log = SimulatedLog([0] * 6, [60.0] * 6, [True, False, True, False, True, False])
    result = forecast(
        log,
        raters,
        workload=Workload(30, 1, checks_per_unit=1),
        struck=[],
        low=[0],
        high=[1],
        arrivals_per_hour=0.001,
        seed=1,
        n_replicates=1,
        **MONEY,
    )
    assert result.duration.rater_hours == pytest.approx(59 / 60)  # a check after each unit but the last
    assert result.cost.screens == result.duration.screens == 59
    assert result.cost.total_low == result.cost.total == result.cost.total_high


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


LOG = SimulatedLog([0], [1.0], [True])
REST = {"workload": Workload(1, 1), "struck": [], "low": [], "high": [], "arrivals_per_hour": 1, "seed": 1, **MONEY}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SimulatedLog([0, 1], [1.0], [True, True]), r"seconds has shape \(1,\); accepted: \(2,\)"),
        (lambda: SimulatedLog([-1], [1.0], [True]), "rater holds -1"),
        (lambda: SimulatedLog([0], [math.nan], [True]), "seconds holds a time that is negative or not finite"),
        (lambda: forecast(LOG, [], **REST), "log names rater 0; accepted: 0 to -1"),
        (lambda: forecast(SimulatedLog([], [], []), [], **REST), "log has no answer that fills a place"),
        (lambda: cost(filled=0), "filled is 0; accepted: 1 or more"),
        (lambda: cost(paid_screens=-1), "paid_screens is -1; accepted: 0 or more"),
        (lambda: cost(fee_percent=Decimal(-1)), "fee_percent is -1; accepted: 0 or more"),
        (lambda: width_forecast([1], [0]), "an interval ends below where it begins"),
        (lambda: width_forecast([1], [2, 3]), r"high has shape \(2,\)"),
    ],
)
def test_what_is_not_accepted_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
