import numpy as np
import pytest
from scipy.stats import entropy, pearsonr

from annotation.weighting import RatingTable, summarise_raters


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
