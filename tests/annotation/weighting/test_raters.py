import numpy as np
import pytest
from scipy.stats import entropy, norm, pearsonr, quantile_test, t, ttest_1samp

from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import RatingTable


def test_summaries_of_each_rater_equal_numpys_and_scipys():
    rng = np.random.default_rng(5)
    matrix = rng.integers(1, 6, (9, 4)).astype(float)
    seconds = rng.exponential(8, (9, 4))
    response, rater = np.indices(matrix.shape)
    table = RatingTable(response.ravel(), rater.ravel(), matrix.ravel())
    summary = summarise_raters(table, seconds=seconds.ravel())
    for k in range(4):
        ratings, others = matrix[:, k], np.delete(matrix, k, axis=1).mean(axis=1)
        assert summary.n[k] == summary.n_compared[k] == 9
        assert summary.mean[k] == pytest.approx(ratings.mean())
        assert summary.spread[k] == pytest.approx(ratings.std(ddof=1))
        assert summary.agreement[k] == pytest.approx(pearsonr(ratings, others).statistic)
        assert summary.entropy[k] == pytest.approx(entropy(np.unique(ratings, return_counts=True)[1], base=2))
        assert summary.median_seconds[k] == pytest.approx(np.median(seconds[:, k]))


def test_a_raters_repeated_ratings_do_not_count_as_others():
    # Rater 0 rates response 0 twice and is compared with the ratings 1, 2, 3 of rater 1 alone.
    table = RatingTable([0, 0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1], [1, 3, 2, 5, 1, 2, 3])
    assert summarise_raters(table).agreement[0] == pytest.approx(pearsonr([1, 3, 2, 5], [1, 1, 2, 3]).statistic)


def test_undefined_agreement_has_a_reason():
    table = RatingTable(
        [0, 1, 2, 0, 1, 2, 3, 4, 5],
        [0, 0, 0, 1, 1, 1, 2, 2, 2],
        [3, 3, 3, 1, 2, 5, 1, 2, 3],
        n_raters=4,
    )
    summary = summarise_raters(table)
    assert np.isnan(summary.agreement).all()
    assert summary.agreement_reason.tolist() == [
        "all ratings equal",
        "the others' means are all equal",
        "fewer than three responses rated by others too",
        "fewer than three responses rated by others too",
    ]
    assert summary.entropy[0] == 0
    assert np.isnan(summary.mean[3])
    assert np.isnan(summary.median_seconds).all()


def test_ratings_of_unknown_time_do_not_count_in_the_median_time():
    table = RatingTable([0, 1, 2], [0, 0, 0], [1, 2, 3])
    assert summarise_raters(table, seconds=[4.0, np.nan, 10.0]).median_seconds.tolist() == [7.0]


def test_the_time_of_a_screen_counts_once_however_many_texts_it_showed():
    rng = np.random.default_rng(7)
    of_screens = rng.exponential(8, 20)
    table = RatingTable(np.arange(40), [0] * 40, rng.integers(1, 6, 40))
    summary = summarise_raters(table, seconds=np.repeat(of_screens, 2), screen=np.repeat(np.arange(20), 2))
    assert summary.n_timed.tolist() == [20]
    assert summary.median_seconds[0] == pytest.approx(np.median(of_screens))
    time = quantile_test(of_screens, q=1.0, p=0.5).confidence_interval(0.95)
    assert (summary.seconds_low[0], summary.seconds_high[0]) == tuple(time)


def test_no_entropy_exceeds_that_of_all_points_used_equally():
    values = np.repeat([1, 2, 3, 4, 5], [7, 6, 6, 6, 5])
    table, points = RatingTable(np.arange(30), [0] * 30, values), np.full(30, 5.0)
    most = entropy(np.full(5, 0.2), base=2)  # scipy's
    assert summarise_raters(table).entropy_high[0] > most
    assert summarise_raters(table, points=points).entropy_high[0] == pytest.approx(most)
    of_slider = summarise_raters(table, points=np.full(30, np.nan))
    assert of_slider.entropy_high[0] == summarise_raters(table).entropy_high[0]


def test_times_must_align_with_the_ratings():
    with pytest.raises(ValueError, match=r"seconds has shape \(2,\); accepted: \(1,\)"):
        summarise_raters(RatingTable([0], [0], [1]), seconds=[1, 2])


def test_intervals_of_each_rater_equal_scipys():
    rng = np.random.default_rng(6)
    matrix = rng.integers(1, 6, (12, 3)).astype(float)
    seconds = rng.exponential(8, (12, 3))
    response, rater = np.indices(matrix.shape)
    table = RatingTable(response.ravel(), rater.ravel(), matrix.ravel())
    summary = summarise_raters(table, seconds=seconds.ravel(), confidence=0.9)
    for k in range(3):
        ratings, others = matrix[:, k], np.delete(matrix, k, axis=1).mean(axis=1)
        mean = ttest_1samp(ratings, 0).confidence_interval(0.9)
        assert (summary.mean_low[k], summary.mean_high[k]) == pytest.approx(tuple(mean))
        correlation = pearsonr(ratings, others).confidence_interval(0.9)
        assert (summary.agreement_low[k], summary.agreement_high[k]) == pytest.approx(tuple(correlation))
        time = quantile_test(seconds[:, k], q=1.0, p=0.5).confidence_interval(0.9)
        assert (summary.seconds_low[k], summary.seconds_high[k]) == tuple(time)
    assert summary.n_timed.tolist() == [12, 12, 12]


def test_the_interval_of_the_entropy_equals_a_jackknife_with_scipy():
    values = np.tile([1, 1, 2, 3, 3, 3, 5, 5, 2, 1, 3, 4], 3)
    criterion = np.tile([0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1], 3)

    def mean_entropy(keep):
        parts = [values[keep & (criterion == about)] for about in (0, 1)]
        return sum(len(part) * entropy(np.unique(part, return_counts=True)[1], base=2) for part in parts) / keep.sum()

    summary = summarise_raters(RatingTable(np.arange(36), [0] * 36, values), criterion=criterion)
    without = [mean_entropy(np.arange(36) != index) for index in range(36)]
    half = t.ppf(0.975, 35) * np.std(without) * np.sqrt(35)
    whole = mean_entropy(np.ones(36, dtype=bool))
    unbiased = 36 * whole - 35 * np.mean(without)
    assert unbiased > whole
    assert summary.entropy[0] == pytest.approx(whole)
    assert [summary.entropy_low[0], summary.entropy_high[0]] == pytest.approx([whole - half, unbiased + half])


def test_the_interval_of_the_entropy_has_its_nominal_coverage():
    share = np.array([0.1, 0.15, 0.5, 0.2, 0.05])
    values = np.random.default_rng(8).choice(5, p=share, size=(2000, 30))
    summary = summarise_raters(RatingTable(np.arange(60_000), np.repeat(np.arange(2000), 30), values.ravel()))
    truth = entropy(share, base=2)
    assert 0.92 < np.mean((summary.entropy_low <= truth) & (truth <= summary.entropy_high)) < 0.98


def test_constant_ratings_have_no_interval():
    constant = summarise_raters(RatingTable([0, 1, 2], [0, 0, 0], [3, 3, 3]), seconds=[1, 2, 3])
    for name in ("mean", "agreement", "entropy", "seconds"):
        ends = [getattr(constant, f"{name}_low")[0], getattr(constant, f"{name}_high")[0]]
        assert np.isnan(ends).all(), name
    assert (constant.mean[0], constant.entropy[0], constant.median_seconds[0]) == (3, 0, 2)


def two_criteria():
    """Return ratings without agreement on two criteria, around 0 and around 50 with ten times the spread."""
    rng = np.random.default_rng(9)
    response, rater, criterion = (part.ravel() for part in np.indices((10, 5, 2)))
    value = rng.normal(0, 1, (10, 5, 2)).ravel() * np.where(criterion == 1, 10, 1) + 50 * criterion
    return RatingTable(response, rater, value), criterion


def test_agreement_on_several_criteria_is_the_correlation_within_them():
    table, criterion = two_criteria()
    pooled = summarise_raters(RatingTable(table.response * 2 + criterion, table.rater, table.value)).agreement
    within = summarise_raters(table, criterion=criterion)
    # Partial correlation by hand: own ratings and the others' means, each criterion in standard deviations and centred.
    for k in range(5):
        ratings, others = [], []
        for about in range(2):
            matrix = table.value[criterion == about].reshape(10, 5) / table.value[criterion == about].std()
            for column, into in ((matrix[:, k], ratings), (np.delete(matrix, k, axis=1).mean(axis=1), others)):
                into.extend(column - column.mean())
        assert within.agreement[k] == pytest.approx(pearsonr(ratings, others).statistic)
        assert pooled[k] > 0.9  # the difference between the criteria looks like agreement
        z = np.arctanh(within.agreement[k]) + norm.ppf(0.975) / np.sqrt(20 - 1 - 3)  # one criterion mean held fixed
        assert within.agreement_high[k] == pytest.approx(np.tanh(z))


def test_entropy_on_several_criteria_is_the_mean_of_theirs():
    # Always the middle: 3 of 1..5 and 50 of 0..100. Together the answers would seem to have a bit of entropy.
    table = RatingTable([0, 0, 1, 1], [0, 0, 0, 0], [3, 50, 3, 50])
    assert summarise_raters(table).entropy.tolist() == [1.0]
    assert summarise_raters(table, criterion=["a", "b", "a", "b"]).entropy.tolist() == [0.0]


def test_criteria_must_align_with_the_ratings():
    with pytest.raises(ValueError, match=r"criterion has shape \(2,\); accepted: \(1,\)"):
        summarise_raters(RatingTable([0], [0], [1]), criterion=[1, 2])
