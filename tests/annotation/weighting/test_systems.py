import numpy as np
import pytest
from scipy.stats import bootstrap

from annotation.weighting.systems import system_means
from annotation.weighting.table import RatingTable

N_ITEMS, N_RATERS = 60, 12
ITEM, RATER = (axis.ravel() for axis in np.meshgrid(np.arange(N_ITEMS), np.arange(N_RATERS), indexing="ij"))
EFFECTS = {
    "items": np.random.default_rng(3).normal(size=N_ITEMS),
    "raters": np.random.default_rng(4).normal(size=N_RATERS),
}


@pytest.mark.parametrize("of", ["items", "raters"])
def test_the_interval_is_scipys_over_whatever_makes_ratings_differ(of: str) -> None:
    effects = EFFECTS[of]
    values = 3 + effects[ITEM if of == "items" else RATER]
    expected = bootstrap((3 + effects,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1))

    means = system_means(RatingTable(ITEM, RATER, values), np.zeros(values.size), n_systems=1, replicates=20_000)

    assert means.mean[0] == pytest.approx(values.mean())
    width = expected.confidence_interval.high - expected.confidence_interval.low
    assert means.low[0] == pytest.approx(expected.confidence_interval.low, abs=0.05 * width)
    assert means.high[0] == pytest.approx(expected.confidence_interval.high, abs=0.05 * width)


def test_without_known_raters_the_interval_is_over_items_alone() -> None:
    values = 3 + EFFECTS["raters"][RATER]

    means = system_means(RatingTable(ITEM, RATER, values), np.zeros(values.size), n_systems=1, resample_raters=False)

    assert means.low[0] == pytest.approx(means.high[0]) == pytest.approx(values.mean())


def test_a_mean_is_over_items_however_many_ratings_each_has() -> None:
    table = RatingTable([0, 0, 0, 1, 2], [0, 1, 2, 0, 0], [1, 1, 1, 4, 2])

    means = system_means(table, [0, 0, 0, 0, 1], n_systems=3)

    np.testing.assert_allclose(means.mean, [2.5, 2.0, np.nan])
    np.testing.assert_allclose(means.of_items, [[1, 4, np.nan], [np.nan, np.nan, 2], [np.nan] * 3])
    assert means.low[0] <= 2.5 <= means.high[0]
    assert np.isnan([means.low[2], means.high[2]]).all()


@pytest.mark.parametrize("system", [[0], [0, 2], [0, -1]])
def test_systems_that_do_not_fit_are_refused(system: list[int]) -> None:
    with pytest.raises(ValueError, match="system: found shape"):
        system_means(RatingTable([0, 1], [0, 0], [1, 2]), system, n_systems=2)
