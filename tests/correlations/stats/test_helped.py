"""The difference of two systems with the help of a metric, against statsmodels' regression of the differences."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from correlations.stats.helped import regression_difference


def test_it_is_the_regression_of_differences_at_the_mean_of_all_scored_items() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(2, 90))
    ratings = 3 + 0.8 * scores + rng.normal(0, 0.5, scores.shape) + rng.normal(0, 1, 90)
    ratings[:, 25:] = np.nan
    ratings[0, 3], scores[1, 7], scores[0, 80] = np.nan, np.nan, np.nan

    found = regression_difference(*ratings, *scores)

    apart, scored = ratings[0] - ratings[1], scores[0] - scores[1]
    both = np.isfinite(apart) & np.isfinite(scored)
    fit = sm.OLS(apart[both], sm.add_constant(scored[both])).fit()
    everything = scored[np.isfinite(scored)]
    at_mean = fit.get_prediction([[1.0, everything.mean()]])
    assert found is not None
    assert found.estimate == pytest.approx(at_mean.predicted[0])
    # The prediction's error, and what the sample of scored items adds (Cochran 1977, 12.7).
    variance = at_mean.se[0] ** 2 + max(apart[both].var(ddof=1) - fit.scale, 0) / everything.size
    assert found.standard_error == pytest.approx(np.sqrt(variance))
    assert found.mean == pytest.approx(np.mean(apart[both]))
    assert found.mean_interval == pytest.approx(
        stats.t.interval(0.95, both.sum() - 1, found.mean, stats.sem(apart[both]))
    )
    assert 0 < found.saved < 1


def test_too_few_items_and_wrong_shapes() -> None:
    few = [[1, 2, 3], [2, 3, 4], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    assert regression_difference(*few) is None
    with pytest.raises(ValueError, match="four lists over the same items"):
        regression_difference([1, 2], [1], [1, 2], [1, 2])
