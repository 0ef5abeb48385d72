"""Weights of other raters and of fewer ratings, against the schemes themselves on tables written out in full."""

import numpy as np
import pytest

from annotation.weighting.redrawn import Reweighing
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.table import RatingTable

N_RESPONSES, N_RATERS = 30, 7


@pytest.fixture(scope="module")
def table() -> RatingTable:
    """Return ratings of each response by 2 to 5 raters, who differ in severity."""
    rng = np.random.default_rng(4)
    rows = [
        (response, rater, float(np.clip(np.rint(3 + rng.normal() + 0.3 * rater - 1), 1, 5)))
        for response in range(N_RESPONSES)
        for rater in rng.permutation(N_RATERS)[: rng.integers(2, 6)]
    ]
    return RatingTable(*(np.array(column) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize("key", SCHEMES)
def test_every_rater_once_gives_the_weights_to_the_last_bit(key: str, table: RatingTable) -> None:
    again = Reweighing(table, 1, 5, SCHEMES[key])
    whole = SCHEMES[key].weights(table, 1, 5).weights

    assert np.array_equal(again.of_raters(np.ones(N_RATERS, dtype=np.int64)), whole, equal_nan=True)
    assert np.array_equal(again.of_ratings(np.ones(len(table), dtype=bool)), whole, equal_nan=True)


@pytest.mark.parametrize("key", SCHEMES)
def test_a_rater_drawn_twice_is_two_raters_with_the_same_ratings(key: str, table: RatingTable) -> None:
    times = np.array([2, 0, 1, 3, 0, 1, 0])
    rows = []
    for rater, n in enumerate(times.tolist()):
        own = table.rater == rater
        for copy in range(n):
            ratings = zip(table.response[own].tolist(), table.value[own].tolist(), strict=True)
            rows += [(response, 10 * rater + copy, value) for response, value in ratings]
    response, rater, value = (np.array(column) for column in zip(*rows, strict=True))
    written_out = RatingTable(response, rater, value, n_responses=N_RESPONSES)

    drawn = Reweighing(table, 1, 5, SCHEMES[key]).of_raters(times)

    np.testing.assert_allclose(drawn, SCHEMES[key].weights(written_out, 1, 5).weights, atol=1e-7)
    assert np.isnan(drawn).any()  # some response had none of these raters


def test_parameters_of_the_scheme_are_kept(table: RatingTable) -> None:
    again = Reweighing(table, 1, 5, SCHEMES["zscore"], {"clip": 1.0})
    expected = SCHEMES["zscore"].weights(table, 1, 5, clip=1.0).weights
    assert np.array_equal(again.of_ratings(np.ones(len(table), dtype=bool)), expected)


def test_some_ratings_weigh_as_if_there_were_no_others(table: RatingTable) -> None:
    keep = np.random.default_rng(2).random(len(table)) < 0.5
    values: dict[int, list[float]] = {}
    for response, value in zip(table.response[keep].tolist(), table.value[keep].tolist(), strict=True):
        values.setdefault(response, []).append(value)

    weights = Reweighing(table, 1, 5, SCHEMES["linear"]).of_ratings(keep)

    expected = [(np.mean(values[i]) - 3) / 2 if i in values else np.nan for i in range(N_RESPONSES)]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
