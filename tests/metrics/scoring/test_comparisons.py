"""All pairs of systems; Holm's correction against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from metrics.scoring.comparisons import best_first, compare_systems, holm_adjusted, place_ranges
from metrics.scoring.resampling import paired_difference


@pytest.fixture
def replicates() -> np.ndarray:
    """Four systems whose resampled scores move together; two of them are a hair apart."""
    rng = np.random.default_rng(3)
    return 0.05 * rng.normal(size=(400, 1)) + [[0.5, 0.3, 0.502, 0.1]] + 0.01 * rng.normal(size=(400, 4))


def test_holms_p_values_are_statsmodels() -> None:
    p_values = np.random.default_rng(1).uniform(0, 0.3, size=40)

    assert holm_adjusted(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_an_undefined_test_is_no_comparison() -> None:
    found = holm_adjusted([0.02, np.nan, 0.04])

    assert found[[0, 2]] == pytest.approx(multipletests([0.02, 0.04], method="holm")[1])
    assert np.isnan(found[1])
    assert holm_adjusted([]).size == 0


def test_each_pair_is_tested_as_it_is_alone_and_the_better_comes_first(replicates) -> None:
    scores = replicates.mean(axis=0)
    found = compare_systems(scores, replicates)

    assert len(found) == 6
    for pair in found:
        alone = paired_difference(
            scores[pair.first], scores[pair.second], replicates[:, pair.first], replicates[:, pair.second]
        )
        assert pair.difference > 0
        assert (pair.p_value, pair.low, pair.high) == (alone.p_value, alone.low, alone.high)
    corrected = multipletests([pair.p_value for pair in found], method="holm")[1]
    assert [pair.adjusted for pair in found] == pytest.approx(corrected)


def test_systems_that_cannot_be_told_apart_share_places(replicates) -> None:
    found = compare_systems(replicates.mean(axis=0), replicates)

    assert {(pair.first, pair.second) for pair in found if not pair.differs} == {(2, 0)}
    assert place_ranges(4, found) == [(1, 2), (3, 3), (1, 2), (4, 4)]


def test_where_lower_is_better_the_lower_score_comes_first(replicates) -> None:
    found = compare_systems(replicates.mean(axis=0), replicates, higher_is_better=False)

    assert found[0].first == 3
    assert all(pair.difference < 0 for pair in found)


def test_a_system_without_a_score_is_last_and_its_pairs_say_why(replicates) -> None:
    replicates[:, 1] = np.nan
    found = compare_systems([0.5, np.nan, 0.502, 0.1], replicates)

    undefined = [pair for pair in found if 1 in (pair.first, pair.second)]
    assert all(pair.second == 1 and np.isnan(pair.adjusted) and pair.reason for pair in undefined)
    assert best_first([0.5, np.nan, 0.502, 0.1]) == [2, 0, 3, 1]
    assert place_ranges(4, found)[1] == (1, 4)


def test_replicates_of_other_systems_are_refused(replicates) -> None:
    with pytest.raises(ValueError, match=r"replicates: found shape \(400, 4\); accepted: \(B, 3\)"):
        compare_systems([1, 2, 3], replicates)
