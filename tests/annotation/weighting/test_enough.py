from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway, t

from annotation.weighting.enough import raters_by_plan, sign_chances, sufficiency
from annotation.weighting.linear import linear_weights
from annotation.weighting.schemes import SCHEMES, get_scheme
from annotation.weighting.table import RatingTable

rows_of_ratings = st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=6), min_size=2, max_size=8)


@given(rows_of_ratings)
def test_the_spread_is_the_root_mean_square_within_of_the_one_way_anova(rows):
    result = sufficiency(rows, 1, 5, target=0.1, k=[4])
    df = sum(map(len, rows)) - len(rows)
    within = sum(np.var(row) * len(row) for row in rows) / df
    # A point on 1..5 is half a unit of weight.
    assert result.spread == pytest.approx(np.sqrt(within) / 2, abs=1e-12)
    assert result.df == df
    expected = t.ppf(0.975, df) * np.sqrt(within) / 2 / 2
    assert result.expected == ((4, pytest.approx(expected, abs=1e-12)),)


def test_the_pooled_variance_is_the_mean_square_within_of_scipys_f_test():
    rows = [[1, 2, 4], [4, 5, 5], [2, 3, 2]]
    means = np.mean(rows, axis=1)
    between = 3 * np.var(means, ddof=1)
    within = between / f_oneway(*rows).statistic
    assert sufficiency(rows, 1, 5, target=0.1).spread == pytest.approx(np.sqrt(within) / 2)


@given(rows_of_ratings, st.floats(0.05, 1))
def test_the_needed_ratings_are_the_fewest_that_reach_the_target(rows, target):
    result = sufficiency(rows, 1, 5, target=target)
    reach = t.ppf(0.975, result.df) * result.spread
    assert reach / np.sqrt(result.needed) <= target * (1 + 1e-9)
    assert result.needed == 2 or reach / np.sqrt(result.needed - 1) > target * (1 - 1e-9)
    assert result.more.tolist() == [max(result.needed - len(row), 0) for row in rows]
    assert result.more_total == sum(result.more)
    assert result.n_reached == sum(len(row) >= result.needed for row in rows)


def test_the_width_expected_from_five_ratings_matches_that_of_twenty():
    rng = np.random.default_rng(0)
    quality = rng.uniform(30, 70, 400)
    few, many = (quality[:, None] + rng.normal(0, 12, (400, k)) for k in (5, 20))
    result = sufficiency(few.clip(0, 100), 0, 100, target=0.1, k=[20])
    [(_, expected_width)] = result.expected
    spread = many.clip(0, 100).std(axis=1, ddof=1) * 2 / 100
    assert expected_width == pytest.approx(np.mean(1.96 * spread / np.sqrt(20)), rel=0.03)


def test_intervals_of_the_half_width_have_their_nominal_coverage():
    rng = np.random.default_rng(1)
    rows = 50 + rng.normal(0, 10, (600, 4))
    result = sufficiency(rows.clip(0, 100), 0, 100, target=0.1)
    weights = linear_weights(rows.clip(0, 100), 0, 100).weights
    assert np.mean(np.abs(weights) <= result.half_widths) == pytest.approx(0.95, abs=0.025)


@pytest.mark.parametrize("scheme", ["linear", "zscore", "reliability"])
def test_the_half_widths_are_those_of_the_intervals_of_the_weights(scheme):
    rows = np.random.default_rng(2).integers(2, 5, (50, 12))
    weights = get_scheme(scheme).weights(rows, 1, 5)
    result = sufficiency(rows, 1, 5, target=0.1, scheme=scheme)
    np.testing.assert_allclose(result.half_widths, (weights.high - weights.low) / 2)


def test_unrated_responses_need_all_ratings_and_repeated_ratings_do_not_count():
    table = RatingTable([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [1, 4, 5, 2, 3], n_responses=3)
    result = sufficiency(table, 1, 5, target=0.5)
    assert result.more.tolist() == [result.needed - 2, result.needed - 2, result.needed]
    assert np.isnan(result.half_widths[2])


def test_full_agreement_still_needs_two_raters():
    result = sufficiency(RatingTable([0, 0, 1], [0, 1, 0], [4, 4, 2]), 1, 5, target=0.1)
    assert (result.half_width, result.needed, result.more.tolist()) == (0.0, 2, [0, 1])


def test_intervals_of_medians_are_wider_by_the_root_of_half_pi():
    rows = np.random.default_rng(3).integers(1, 6, (20, 5))
    mean = sufficiency(rows, 1, 5, target=0.2)
    median = sufficiency(rows, 1, 5, target=0.2, scheme="median")
    assert median.spread == pytest.approx(mean.spread * np.sqrt(np.pi / 2))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_has_a_width(scheme):
    rows = np.random.default_rng(4).integers(1, 6, (30, 6))
    result = sufficiency(rows, 1, 5, target=0.2, k=[6, 24], scheme=scheme)
    (_, now), (_, later) = result.expected
    assert later == pytest.approx(now / 2)
    assert result.half_width == pytest.approx(now, rel=0.05)
    assert result.needed >= 2


SYSTEMS, ITEMS = 6, 12
RESPONSES = np.arange(SYSTEMS * ITEMS).reshape(ITEMS, SYSTEMS)
DESIGNS = {  # the responses that each unit shows
    "single": [[response] for response in RESPONSES.ravel()],
    "pair": [list(pair) for item in RESPONSES for pair in combinations(item, 2)],
    "list": [list(item) for item in RESPONSES],
    "best-worst": [list(item) for item in RESPONSES],
}


def hand_out(units, done, k, *, raters, rng):
    """Fill each unit up to k ratings by raters who have not rated it, fewest filled first; return (unit, rater)."""
    log, filled = [], [set(unit_raters) for unit_raters in done]
    while left := [unit for unit in range(len(units)) if len(filled[unit]) < k]:
        fewest = min(len(filled[unit]) for unit in left)
        unit = rng.choice([unit for unit in left if len(filled[unit]) == fewest])
        rater = rng.choice(sorted(set(range(raters)) - filled[unit]))
        filled[unit].add(int(rater))
        log.append((unit, int(rater)))
    return log, filled


def rated(units, log, quality, kind, rng):
    """Return the ratings of a log: points from 1 to 5, or 1 for the best and -1 for the worst of a list."""
    rows = []
    for unit, rater in log:
        seen = quality[units[unit]] + rng.normal(0, 1, len(units[unit]))
        values = np.clip(np.rint(3 + seen), 1, 5)
        if kind == "best-worst":
            values = np.zeros(len(seen))
            values[[seen.argmax(), seen.argmin()]] = 1, -1
        rows += [(response, rater, value) for response, value in zip(units[unit], values, strict=True)]
    return rows


@pytest.mark.parametrize("raters", [4, 9])
@pytest.mark.parametrize("kind", DESIGNS)
def test_the_half_width_forecast_for_the_plan_is_what_simulated_further_ratings_give(kind, raters):
    units, rng = DESIGNS[kind], np.random.default_rng(6)
    quality, k = rng.normal(0, 1, SYSTEMS * ITEMS), 4
    ends = (-1, 1) if kind == "best-worst" else (1, 5)
    forecast, measured = [], []
    for _ in range(6):
        log, filled = hand_out(units, [set() for _ in units], 2, raters=raters, rng=rng)
        rows = rated(units, log, quality, kind, rng)
        now = RatingTable(*zip(*rows, strict=True), n_responses=quality.size, n_raters=raters)
        shown = [(response, 2, k) for unit in units for response in unit]
        plan = raters_by_plan(now.latest_per_rater().counts(), *zip(*shown, strict=True), n_raters=raters)
        forecast.append(sufficiency(now, *ends, target=0.2, plan=plan).at_plan)
        rows += rated(units, hand_out(units, filled, k, raters=raters, rng=rng)[0], quality, kind, rng)
        later = RatingTable(*zip(*rows, strict=True), n_responses=quality.size, n_raters=raters)
        measured.append(sufficiency(later, *ends, target=0.2).half_width)
    assert np.mean(forecast) == pytest.approx(np.mean(measured), rel=0.04)


def test_a_unit_that_has_its_ratings_adds_no_rater():
    assert raters_by_plan([3, 2, 0], [0, 1, 2], [3, 5, 0], [3, 2, 0], n_raters=7).tolist() == [3, 2, 0]


def test_a_wrong_plan_is_named():
    with pytest.raises(ValueError, match=r"plan has shape \(1,\) and values from 1; accepted: \(2,\), from 0"):
        sufficiency([[1, 2], [3, 4]], 1, 5, target=0.1, plan=[1])
    with pytest.raises(ValueError, match=r"shapes \(1,\), \(2,\), \(1,\); accepted: one length"):
        raters_by_plan([1], [0], [0, 0], [1], n_raters=2)
    with pytest.raises(ValueError, match="response holds 0 to 3; accepted: 0 to 0"):
        raters_by_plan([1], [0, 3], [0, 0], [1, 1], n_raters=2)


@pytest.mark.parametrize(("few", "many"), [(3, 6), (3, 20), (5, 10)])
def test_certain_signs_are_as_many_as_simulated_further_ratings_give(few, many):
    rng, forecast, counted = np.random.default_rng(8), [], []
    for _ in range(20):
        quality = rng.normal(0.1, 0.4, 200)[:, None] * 2 + 3
        rows = (quality + rng.normal(0, 1, (200, many))).clip(1, 5)
        forecast.append(sign_chances(rows[:, :few], 1, 5, raters=np.full(200, many)).sum())
        later = sign_chances(rows, 1, 5, raters=np.full(200, many))
        weights = linear_weights(rows, 1, 5)
        assert set(later) == {0, 1}
        np.testing.assert_array_equal(later == 1, (weights.low > 0) | (weights.high < 0))
        counted.append(later.sum())
    assert np.mean(forecast) == pytest.approx(np.mean(counted), rel=0.06)


def test_signs_are_unknown_without_two_raters_and_uncertain_without_any():
    assert np.isnan(sign_chances([[3], [4]], 1, 5, raters=[9, 9])).all()
    table = RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [4, 5, 1, 2], n_responses=3)
    chances = sign_chances(table, 1, 5, raters=[2, 2, 0])
    assert chances[2] == 0
    with pytest.raises(ValueError, match=r"raters has shape \(1,\); accepted: \(3,\)"):
        sign_chances(table, 1, 5, raters=[1])


def test_magnitudes_have_a_width_with_zscores():
    rows = np.log(np.random.default_rng(5).lognormal(0, 1, (10, 4)))
    assert sufficiency(rows, np.nan, np.nan, target=0.2, scheme="zscore").half_width > 0


def test_without_two_raters_of_a_response_there_is_a_reason():
    result = sufficiency([[3], [4]], 1, 5, target=0.1, k=[5])
    assert result.reason == "no response has ratings of two raters"
    assert np.isnan([result.half_width, result.spread, result.expected[0][1]]).all()
    assert (result.needed, result.more_total) == (None, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 0}, "target is 0; accepted: a half-width above 0"),
        ({"target": np.nan}, "target is nan"),
        ({"target": 0.1, "k": [5, 0]}, "k holds 0; accepted: 1 or more"),
        ({"target": 0.1, "scheme": "mode"}, "weighting scheme is 'mode'"),
        ({"target": 0.1, "confidence": 2}, "confidence is 2"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        sufficiency([[1, 2]], 1, 5, **options)
