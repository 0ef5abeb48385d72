import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from correlations.stats.worth import alternative_annotator_test, lead_over, on_rating_scale, regression_estimate

NAN = math.nan


def outputs(n, total, seed=4):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=total)
    return 3 + scores[:n] + rng.normal(size=n), scores[:n], scores


# --- Ratings saved ----------------------------------------------------------------------------------------------------


def test_the_estimate_is_the_fitted_line_at_the_mean_of_all_scores():
    rated, of_rated, of_all = outputs(25, 200)
    fit = OLS(rated, np.stack([np.ones(25), of_rated], axis=1)).fit()
    at = np.array([1.0, of_all.mean()])
    result = regression_estimate(rated, of_rated, of_all)
    assert result.estimate == pytest.approx(float(fit.params @ at), rel=1e-12)
    assert result.correlation == pytest.approx(stats.pearsonr(rated, of_rated).statistic, rel=1e-12)
    of_line = float(at @ fit.cov_params() @ at)  # the scores taken for fixed
    of_scores = (np.var(rated, ddof=1) - fit.mse_resid) / 200
    assert result.standard_error == pytest.approx(math.sqrt(of_line + of_scores), rel=1e-12)


def test_without_the_metric_the_interval_is_student_s():
    rated, of_rated, of_all = outputs(12, 60)
    result = regression_estimate(rated, of_rated, of_all)
    expected = stats.t.interval(0.95, 11, rated.mean(), stats.sem(rated))
    assert (result.mean, *result.mean_interval) == pytest.approx((rated.mean(), *expected), rel=1e-12)


def test_many_ratings_have_the_published_variance():
    """s_y^2 ((1 - r^2) / n + r^2 / N): Chaganty, Mussmann and Liang (2018) for N without end, Cochran (1977)."""
    rated, of_rated, of_all = outputs(4000, 20_000)
    r2 = stats.pearsonr(rated, of_rated).statistic ** 2
    result = regression_estimate(rated, of_rated, of_all)
    variance = np.var(rated, ddof=1) * ((1 - r2) / 4000 + r2 / 20_000)
    assert result.standard_error == pytest.approx(math.sqrt(variance), rel=2e-3)
    assert result.saved == pytest.approx(r2 * (1 - 4000 / 20_000), abs=2e-3)


def test_a_perfect_metric_leaves_the_uncertainty_of_all_outputs_and_a_useless_one_saves_nothing():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=1000)
    perfect = regression_estimate(2 * scores[:50] + 1, scores[:50], scores)
    assert perfect.estimate == pytest.approx(2 * scores.mean() + 1, rel=1e-12)
    assert perfect.saved == pytest.approx(1 - 50 / 1000, abs=1e-9)
    useless = [regression_estimate(rng.normal(size=20), scores[:20], scores).saved for _ in range(200)]
    assert -0.1 < float(np.mean(useless)) < 0.02


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5), st.floats(0.1, 10))
def test_units_of_the_metric_do_not_matter_and_those_of_the_ratings_carry_over(seed, factor, shift, points):
    rated, of_rated, of_all = outputs(10, 30, seed)
    plain = regression_estimate(rated, of_rated, of_all)
    for sign in (1, -1):
        moved = regression_estimate(points * rated, sign * factor * of_rated + shift, sign * factor * of_all + shift)
        assert moved.estimate == pytest.approx(points * plain.estimate, rel=1e-6)
        assert moved.standard_error == pytest.approx(points * plain.standard_error, rel=1e-6)
        assert moved.saved == pytest.approx(plain.saved, abs=1e-6)


@pytest.mark.parametrize(
    ("rated", "of_rated", "reason"),
    [([1, 2, 3, 4], [5] * 4, "scores of rated outputs are constant"), ([3] * 4, [1, 2, 3, 4], "ratings are constant")],
)
def test_constant_values_leave_the_mean_and_say_why(rated, of_rated, reason):
    result = regression_estimate(rated, of_rated, [1, 2, 3, 4, 5])
    assert math.isnan(result.estimate)
    assert math.isnan(result.saved)
    assert reason in result.reason
    assert result.mean == np.mean(rated)
    assert not math.isnan(result.mean_interval.low)


@pytest.mark.parametrize(
    ("rated", "of_rated", "of_all", "message"),
    [
        ([1, 2, 3], [1, 2, 3], [1, 2, 3], "3 ratings: at least 4"),
        ([1, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4], "4 ratings and scores_of_rated 3"),
        ([1, 2, 3, 4], [1, 2, 3, 4], [1, 2], "scores_of_all has 2"),
        ([1, 2, NAN, 4], [1, 2, 3, 4], [1, 2, 3, 4], r"rated\[2\] is nan"),
        ([[1, 2]], [1, 2], [1, 2], r"rated has shape \(1, 2\)"),
    ],
)
def test_impossible_outputs_are_refused(rated, of_rated, of_all, message):
    with pytest.raises(ValueError, match=message):
        regression_estimate(rated, of_rated, of_all)


# --- Scores of another unit on the scale of the ratings ---------------------------------------------------------------


def test_the_line_of_an_item_is_numpy_s_fit_to_the_other_folds():
    rng = np.random.default_rng(6)
    items = rng.permutation(np.repeat(np.arange(20), 3))
    scores = rng.normal(size=60)
    ratings = 3 + scores + rng.normal(size=60)
    ratings[::7], scores[5] = NAN, NAN
    placed = on_rating_scale(scores, ratings, items, folds=4)
    for fold in range(4):
        other = (items % 4 != fold) & ~np.isnan(ratings) & ~np.isnan(scores)
        expected = np.polyval(np.polyfit(scores[other], ratings[other], 1), scores[items % 4 == fold])
        assert placed[items % 4 == fold].tolist() == pytest.approx(expected.tolist(), nan_ok=True)


def test_constant_scores_have_no_place_on_the_scale():
    assert np.isnan(on_rating_scale([2.0] * 6, [1, 2, 3, 4, 5, 6], range(6), folds=2)).all()
    assert np.isnan(on_rating_scale([1.0, 2.0], [NAN, NAN], [1, 2])).all()
    with pytest.raises(ValueError, match="one length"):
        on_rating_scale([1.0], [1.0, 2.0], [1, 2])
    with pytest.raises(ValueError, match="folds is 1"):
        on_rating_scale([1.0], [1.0], [1], folds=1)


# --- In place of a rater ----------------------------------------------------------------------------------------------


def closeness(value, others, alignment):
    if alignment == "agreement":
        return np.mean([value == other for other in others])
    return -math.sqrt(np.mean([(value - other) ** 2 for other in others]))


def one_rater_at_a_time(ratings, candidate, epsilon, alignment="distance"):
    """Calderon, Reichart and Dror (2025), section 3, as a loop over raters and items, with scipy's test.

    Items of one rater, and raters with fewer than 30 items, are left out, as the authors' published code does
    (nitaytech/AltTest, alt_test_example.ipynb).
    """
    raters, items = ratings.shape
    p_values, advantages = [], []
    for j in range(raters):
        of_rater, of_candidate = [], []
        for i in range(items):
            others = [ratings[k, i] for k in range(raters) if k != j and not math.isnan(ratings[k, i])]
            if math.isnan(ratings[j, i]) or math.isnan(candidate[i]) or not others:
                continue
            by_rater = closeness(ratings[j, i], others, alignment)
            by_candidate = closeness(candidate[i], others, alignment)
            equal = math.isclose(by_rater, by_candidate, rel_tol=1e-9, abs_tol=1e-12)
            of_rater.append(equal or by_rater > by_candidate)
            of_candidate.append(equal or by_candidate > by_rater)
        if len(of_rater) >= 30:
            difference = np.array(of_rater, float) - np.array(of_candidate, float)
            p_values.append(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue)
            advantages.append(np.mean(of_candidate))
    rejected = multipletests(p_values, 0.05, method="fdr_by")[0]
    return rejected.mean(), np.mean(advantages), p_values


def crowd(seed, raters=6, items=70, share=0.8, candidate_noise=0.5):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, items)
    noise = rng.uniform(0.3, 1.5, (raters, 1)) * rng.normal(size=(raters, items))
    ratings = np.clip(np.rint(truth + noise), 1, 5)
    ratings[rng.random(ratings.shape) > share] = NAN
    return ratings, np.clip(np.rint(truth + rng.normal(0, candidate_noise, items)), 1, 5)


@pytest.mark.parametrize("alignment", ["distance", "agreement"])
@pytest.mark.parametrize(("seed", "noise", "epsilon"), [(1, 0.3, 0.1), (2, 1.0, 0.2), (3, 2.5, 0.0)])
def test_it_equals_a_loop_with_scipy_and_statsmodels(seed, noise, epsilon, alignment):
    ratings, candidate = crowd(seed, candidate_noise=noise)
    candidate[::9] = NAN
    result = alternative_annotator_test(ratings, candidate, epsilon=epsilon, alignment=alignment)
    winning_rate, advantage, p_values = one_rater_at_a_time(ratings, candidate, epsilon, alignment)
    assert result.p_values[result.tested].tolist() == pytest.approx(p_values, rel=1e-9, abs=1e-14)
    assert (result.winning_rate, result.advantage) == pytest.approx((winning_rate, advantage), rel=1e-12)
    assert result.passed == (winning_rate >= 0.5)


def test_scores_of_a_metric_are_compared_as_they_are():
    ratings, candidate = crowd(5)
    candidate = candidate + 0.37
    result = alternative_annotator_test(ratings, candidate, epsilon=0.1)
    _, advantage, p_values = one_rater_at_a_time(ratings, candidate, 0.1)
    assert result.p_values.tolist() == pytest.approx(p_values, rel=1e-9)
    assert result.advantage == pytest.approx(advantage, rel=1e-12)


def test_the_correction_is_statsmodels():
    ratings, candidate = crowd(7, raters=8, candidate_noise=1.0)
    result = alternative_annotator_test(ratings, candidate, epsilon=0.1)
    expected = multipletests(result.p_values, method="fdr_by")[1]
    assert result.adjusted.tolist() == pytest.approx(expected.tolist(), rel=1e-12)
    assert result.beaten.tolist() == (expected <= 0.05).tolist()


def test_raters_with_fewer_than_thirty_items_are_not_tested():
    ratings, candidate = crowd(1, raters=4, items=60, share=1.0)
    ratings[0, 29:] = NAN
    result = alternative_annotator_test(ratings, candidate, epsilon=0.1)
    assert (result.n_items[0], result.tested.tolist()) == (29, [False, True, True, True])
    assert math.isnan(result.p_values[0])
    assert math.isnan(result.advantages[0])
    ratings[0, 29] = 3
    assert alternative_annotator_test(ratings, candidate, epsilon=0.1).tested.all()


def test_items_of_one_rater_alone_do_not_count():
    ratings, candidate = crowd(1, raters=3, items=60, share=1.0)
    alone = np.concatenate([ratings, np.full((3, 40), NAN)], axis=1)
    alone[0, 60:] = 1.0
    wide = alternative_annotator_test(alone, np.append(candidate, np.ones(40)), epsilon=0.1)
    assert wide.p_values.tolist() == alternative_annotator_test(ratings, candidate, epsilon=0.1).p_values.tolist()
    assert wide.n_items.tolist() == [60, 60, 60]


def test_without_a_rater_to_test_it_says_so():
    result = alternative_annotator_test([[1, 2, 3], [2, 2, 3]], [1, 2, 3], epsilon=0.1)
    assert math.isnan(result.winning_rate)
    assert math.isnan(result.advantage)
    assert not result.passed
    assert "no rater has 30 items" in result.reason


def test_where_every_item_has_one_outcome_the_test_is_certain():
    ratings = np.tile([[1.0], [2.0], [3.0]], 40)
    best, worst = (alternative_annotator_test(ratings, np.full(40, value), epsilon=0.1) for value in (2.0, 9.0))
    assert best.p_values.tolist() == [0.0, 0.0, 0.0]
    assert worst.p_values.tolist() == [1.0, 1.0, 1.0]
    assert (worst.winning_rate, worst.passed) == (0.0, False)


def test_a_tie_counts_for_both():
    same = np.tile([4.0, 2.0], 20)
    result = alternative_annotator_test(np.stack([same, same]), same, epsilon=0.1)
    assert (result.advantage, result.winning_rate) == (1.0, 1.0)
    assert alternative_annotator_test(np.stack([same, same]), same, epsilon=0).winning_rate == 0.0


@settings(max_examples=20)
@given(
    arrays(np.int8, (3, 32), elements=st.integers(1, 5)),
    arrays(np.int8, 32, elements=st.integers(1, 5)),
    st.sampled_from([0.0, 0.1, 0.2]),
)
def test_the_unit_of_the_ratings_and_the_order_of_raters_do_not_matter(ratings, candidate, epsilon):
    plain = alternative_annotator_test(ratings, candidate, epsilon=epsilon)
    moved = alternative_annotator_test(ratings[::-1] * 0.1 + 7, candidate * 0.1 + 7, epsilon=epsilon)
    assert moved.p_values[::-1].tolist() == pytest.approx(plain.p_values.tolist(), abs=1e-12)
    assert (moved.advantage, moved.winning_rate) == (pytest.approx(plain.advantage), plain.winning_rate)
    more = alternative_annotator_test(ratings, candidate, epsilon=epsilon + 0.1)
    assert (more.p_values <= plain.p_values + 1e-12).all()


@pytest.mark.parametrize(
    ("ratings", "candidate", "options", "message"),
    [
        ([[1, 2]], [1, 2], {}, r"ratings has shape \(1, 2\)"),
        ([[1, 2], [1, 2]], [1, 2, 3], {}, r"candidate has shape \(3,\)"),
        ([[1, 2], [1, math.inf]], [1, 2], {}, "ratings has an infinite value"),
        ([[1, 2], [1, 2]], [1, 2], {"epsilon": 1.0}, r"epsilon is 1\.0"),
        ([[1, 2], [1, 2]], [1, 2], {"alignment": "rmse"}, "alignment is 'rmse'"),
    ],
)
def test_impossible_ratings_are_refused(ratings, candidate, options, message):
    with pytest.raises(ValueError, match=message):
        alternative_annotator_test(ratings, candidate, **{"epsilon": 0.1, **options})


# --- Closer than one rating for all -----------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_a_lead_over_another_candidate_is_a_t_test_over_items(margin):
    """Distances to all raters of an item by a loop over items, the test by scipy."""
    rng = np.random.default_rng(8)
    truth = rng.integers(1, 6, size=60).astype(float)
    ratings = truth + rng.integers(-1, 2, size=(5, 60))
    ratings[rng.random(ratings.shape) < 0.3] = NAN
    judge, constant = truth + rng.choice([0.0, 0.5], size=60), np.full(60, 3.0)
    judge[:3] = NAN

    differences = []
    for item in range(3, 60):
        given = ratings[~np.isnan(ratings[:, item]), item]
        if given.size < 2:
            continue
        of_judge, of_constant = (np.mean((given - value) ** 2) for value in (judge[item], constant[item]))
        differences.append(0.0 if abs(of_judge - of_constant) < 1e-9 else float(np.sign(of_constant - of_judge)))

    lead = lead_over(ratings, judge, constant, margin=margin)

    expected = stats.ttest_1samp(differences, margin, alternative="greater")
    assert (lead.n_items, lead.difference) == (len(differences), pytest.approx(np.mean(differences)))
    assert lead.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (lead.closer, lead.farther) == (differences.count(1.0), differences.count(-1.0))
    reverse = lead_over(ratings, constant, judge, margin=-margin)
    assert (reverse.difference, reverse.p) == (pytest.approx(-lead.difference), pytest.approx(1 - lead.p))


def test_chance_in_whole_points_has_no_lead_over_a_mean_for_tying_with_raters():
    """It ties with a rater on a fifth of the items, 3.01 never."""
    rng = np.random.default_rng(9)
    ratings, judge = rng.integers(1, 6, size=(3, 600)).astype(float), rng.integers(1, 6, size=600).astype(float)
    assert lead_over(ratings, judge, np.full(600, 3.01)).difference < 0
    assert lead_over(ratings, judge, np.full(600, 3.0)).difference < 0


def test_of_labels_the_one_that_more_raters_gave_leads():
    ratings = [[1.0, 1, 2, 3], [1, 2, 2, 3], [2, 2, 2, NAN]]
    lead = lead_over(ratings, [1, 1, 2, 3], [2, 2, 2, 1], alignment="agreement")
    assert (lead.difference, lead.n_items) == (0.25, 4)  # closer on two items, farther on one, equal on one


def test_a_lead_over_fewer_than_two_items_is_undefined():
    lead = lead_over([[1, 2, NAN], [2, 2, 1]], [1, NAN, 3], [2, 2, 2])
    assert lead.n_items == 1
    assert math.isnan(lead.difference)
    assert math.isnan(lead.p)
