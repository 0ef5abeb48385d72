import math

import numpy as np
import pandas as pd
import pytest
from nlpstats.correlations.correlations import correlate
from scipy import stats
from sklearn.metrics import mean_absolute_error, root_mean_squared_error

from correlations.stats.segment_level import on_scale_by_range, rating_errors, segment_level_correlation

KEYS = ("pearson", "spearman", "kendall")


@pytest.fixture(scope="module")
def world():
    """Scores and ratings of 5 systems on 60 items, a fifth of each missing, with ties; system 4 is constant."""
    rng = np.random.default_rng(20170908)
    ratings = rng.integers(1, 6, (5, 60)).astype(float)
    scores = np.round(0.3 * ratings + rng.normal(size=(5, 60)), 1)
    scores[rng.random((5, 60)) < 0.2] = np.nan
    ratings[rng.random((5, 60)) < 0.2] = np.nan
    scores[4] = 0.5
    return scores, ratings


def of_frame(group: pd.DataFrame, key: str) -> float:
    """Return the coefficient as pandas and scipy compute it; NaN of a single output."""
    return float(group["score"].corr(group["rating"], method=key)) if len(group) > 1 else math.nan


@pytest.mark.filterwarnings("ignore:An input array is constant")
@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("grouping", ["item", "system"])
def test_means_within_items_and_within_systems_equal_those_of_pandas(world, grouping):
    scores, ratings = world
    systems, items = np.indices(scores.shape)
    columns = {"system": systems, "item": items, "score": scores, "rating": ratings}
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()}).dropna()
    result = segment_level_correlation(scores, ratings, grouping=grouping)
    assert result.n == len(frame)
    for key in KEYS:
        within = [of_frame(group, key) for _, group in frame.groupby(grouping)]
        assert result.values[key] == pytest.approx(np.nanmean(within), abs=1e-12)
        assert result.groups[key] == np.isfinite(within).sum()


@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_levels_equal_those_of_nlpstats(world):
    scores, ratings = world
    x, y = np.nan_to_num(scores), np.nan_to_num(ratings, nan=3.0)  # it wants all of them
    for ours, theirs in (("all", "global"), ("item", "input")):
        found = segment_level_correlation(x, y, grouping=ours).values["kendall"]
        assert found == pytest.approx(correlate(x, y, theirs, "kendall"), abs=1e-12), ours


def test_coefficients_over_all_outputs_and_their_p_equal_scipys(world):
    scores, ratings = world
    both = np.isfinite(scores) & np.isfinite(ratings)
    result = segment_level_correlation(scores, ratings)
    expected = stats.pearsonr(scores[both], ratings[both])
    assert result.values["pearson"] == pytest.approx(expected.statistic, abs=1e-12)
    assert result.pvalues["pearson"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.values["kendall"] == pytest.approx(stats.kendalltau(scores[both], ratings[both])[0], abs=1e-12)


def test_what_is_undefined_has_a_reason_and_what_is_wrong_is_refused():
    ratings = [[1.0, 2.0], [2.0, 1.0]]
    constant = segment_level_correlation([[1, 1], [1, 1]], ratings, grouping="item")
    assert math.isnan(constant.values["kendall"])
    assert constant.reason == "the metric scores are constant"
    alone = segment_level_correlation([[1, np.nan, 2], [np.nan, 3, np.nan]], [[1, 1, 2], [3, 4, 4]], grouping="item")
    assert alone.reason == "no item has two outputs whose scores and ratings differ"
    few = segment_level_correlation([[1.0, np.nan], [np.nan, 2.0]], ratings)
    assert few.reason == "2 rated outputs: at least 3 are needed"
    with pytest.raises(ValueError, match="grouping is 'rater': accepted are all, item, system"):
        segment_level_correlation(ratings, ratings, grouping="rater")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a score is infinite"):
        segment_level_correlation([[np.inf, 1], [1, 2]], ratings)


def test_errors_equal_those_of_scikit_learn(world):
    scores, ratings = world
    placed = on_scale_by_range(scores, low=1, high=5)
    both = np.isfinite(placed) & np.isfinite(ratings)
    result = rating_errors(placed, ratings)
    constant = np.full(both.sum(), ratings[both].mean())
    assert result.mae == pytest.approx(mean_absolute_error(ratings[both], placed[both]), abs=1e-12)
    assert result.rmse == pytest.approx(root_mean_squared_error(ratings[both], placed[both]), abs=1e-12)
    assert result.constant_mae == pytest.approx(mean_absolute_error(ratings[both], constant), abs=1e-12)
    assert result.constant_rmse == pytest.approx(root_mean_squared_error(ratings[both], constant), abs=1e-12)
    assert np.nanmin(placed) == 1
    assert np.nanmax(placed) == 5


def test_scores_are_rounded_to_steps_and_stay_on_the_scale():
    scores = np.linspace(0, 1, 11)  # 1.0, 1.4, ... 5.0 on a scale of 1 to 5; 0.7 is 3.8
    assert on_scale_by_range(scores, low=1, high=5, rounding="down")[[0, 3, 7, 10]].tolist() == [1.0, 2.0, 3.5, 5.0]
    assert on_scale_by_range(scores, low=1, high=5, rounding="nearest")[[0, 3, 7, 10]].tolist() == [1.0, 2.0, 4.0, 5.0]
    assert np.isnan(on_scale_by_range([2, 2], low=1, high=5)).all()
    assert rating_errors([np.nan], [1.0]).reason == "no output has a score and a rating, or all scores are equal"
    with pytest.raises(ValueError, match=r"low is 5 and high 1"):
        on_scale_by_range(scores, low=5, high=1)
    with pytest.raises(ValueError, match=r"step is 0"):
        on_scale_by_range(scores, low=1, high=5, step=0)
