import numpy as np
import pytest
from scipy.stats import entropy, norm, pearsonr, quantile_test, t, ttest_1samp

from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import RatingTable


def test_summaries_are_numpys_and_scipys_rater_by_rater():
    rng = np.random.default_rng(5)
    matrix = rng.integers(1, 6, (9, 4)).astype(float)
    seconds = rng.exponential(8, (9, 4))
    response, rater = np.indices(matrix.shape)
    table = RatingTable(response.ravel(), rater.ravel(), matrix.ravel())
    summary = summarise_raters(table, seconds=seconds.ravel())
    for k in range(4):
        own, others = matrix[:, k], np.delete(matrix, k, axis=1).mean(axis=1)
        assert summary.n[k] == summary.n_compared[k] == 9
        assert summary.mean[k] == pytest.approx(own.mean())
        assert summary.spread[k] == pytest.approx(own.std(ddof=1))
        assert summary.agreement[k] == pytest.approx(pearsonr(own, others).statistic)
        assert summary.entropy[k] == pytest.approx(entropy(np.unique(own, return_counts=True)[1], base=2))
        assert summary.median_seconds[k] == pytest.approx(np.median(seconds[:, k]))


def test_own_repeated_ratings_are_not_among_the_others():
    # Rater 0 rates response 0 twice; rater 1 gave 1, 2, 3: rater 0 is compared with exactly these.
    table = RatingTable([0, 0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1], [1, 3, 2, 5, 1, 2, 3])
    assert summarise_raters(table).agreement[0] == pytest.approx(pearsonr([1, 3, 2, 5], [1, 1, 2, 3]).statistic)


def test_undefined_agreement_says_why():
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


def test_times_must_align_with_the_ratings():
    with pytest.raises(ValueError, match=r"seconds has shape \(2,\); accepted: \(1,\)"):
        summarise_raters(RatingTable([0], [0], [1]), seconds=[1, 2])


def test_intervals_are_scipys_rater_by_rater():
    rng = np.random.default_rng(6)
    matrix = rng.integers(1, 6, (12, 3)).astype(float)
    seconds = rng.exponential(8, (12, 3))
    response, rater = np.indices(matrix.shape)
    table = RatingTable(response.ravel(), rater.ravel(), matrix.ravel())
    summary = summarise_raters(table, seconds=seconds.ravel(), confidence=0.9)
    for k in range(3):
        own, others = matrix[:, k], np.delete(matrix, k, axis=1).mean(axis=1)
        mean = ttest_1samp(own, 0).confidence_interval(0.9)
        assert (summary.mean_low[k], summary.mean_high[k]) == pytest.approx(tuple(mean))
        correlation = pearsonr(own, others).confidence_interval(0.9)
        assert (summary.agreement_low[k], summary.agreement_high[k]) == pytest.approx(tuple(correlation))
        time = quantile_test(seconds[:, k], q=1.0, p=0.5).confidence_interval(0.9)
        assert (summary.seconds_low[k], summary.seconds_high[k]) == tuple(time)
    assert summary.n_timed.tolist() == [12, 12, 12]


def test_the_interval_of_the_entropy_is_the_jackknifes_of_scipys():
    values = np.array([1, 1, 2, 3, 3, 3, 5, 5, 2, 1, 3, 4])
    criterion = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1])

    def mean_entropy(keep):
        parts = [values[keep & (criterion == about)] for about in (0, 1)]
        return sum(len(part) * entropy(np.unique(part, return_counts=True)[1], base=2) for part in parts) / keep.sum()

    summary = summarise_raters(RatingTable(np.arange(12), [0] * 12, values), criterion=criterion)
    without = [mean_entropy(np.arange(12) != one) for one in range(12)]
    half = t.ppf(0.975, 11) * np.std(without) * np.sqrt(11)
    assert summary.entropy[0] == pytest.approx(mean_entropy(np.ones(12, dtype=bool)))
    assert summary.entropy_high[0] - summary.entropy[0] == pytest.approx(half)


def test_the_interval_of_the_entropy_holds_the_true_one_about_as_often_as_it_says():
    share = np.array([0.1, 0.15, 0.5, 0.2, 0.05])
    values = np.random.default_rng(8).choice(5, p=share, size=(2000, 30))
    summary = summarise_raters(RatingTable(np.arange(60_000), np.repeat(np.arange(2000), 30), values.ravel()))
    truth = entropy(share, base=2)
    assert 0.92 < np.mean((summary.entropy_low <= truth) & (truth <= summary.entropy_high)) < 0.98


def test_what_allows_no_interval_has_none():
    constant = summarise_raters(RatingTable([0, 1, 2], [0, 0, 0], [3, 3, 3]), seconds=[1, 2, 3])
    for name in ("mean", "agreement", "entropy", "seconds"):
        ends = [getattr(constant, f"{name}_low")[0], getattr(constant, f"{name}_high")[0]]
        assert np.isnan(ends).all(), name
    assert (constant.mean[0], constant.entropy[0], constant.median_seconds[0]) == (3, 0, 2)


def two_criteria():
    """Five raters who do not agree, on two criteria: one about 0, the other about 50 on a scale ten times as wide."""
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
        own, others = [], []
        for about in range(2):
            matrix = table.value[criterion == about].reshape(10, 5) / table.value[criterion == about].std()
            for column, into in ((matrix[:, k], own), (np.delete(matrix, k, axis=1).mean(axis=1), others)):
                into.extend(column - column.mean())
        assert within.agreement[k] == pytest.approx(pearsonr(own, others).statistic)
        assert pooled[k] > 0.9  # that one criterion is rated higher than the other is no agreement
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
