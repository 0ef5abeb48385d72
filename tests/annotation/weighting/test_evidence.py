import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.weighting.evidence import MOST_BINS, histogram_bins, response_evidence
from annotation.weighting.table import RatingTable


def test_the_spread_equals_numpys_standard_deviation():
    rng = np.random.default_rng(4)
    response = rng.integers(0, 30, 400)
    table = RatingTable(response, np.arange(400), rng.integers(1, 6, 400), n_responses=31)
    spread = response_evidence(table, histogram_bins(1, 5)).spread
    expected = [np.std(table.value[response == code], ddof=1) for code in range(30)]
    np.testing.assert_allclose(spread[:30], expected, rtol=1e-12)
    assert np.isnan(spread[30])  # has no judgement


def test_the_histogram_equals_numpys():
    rng = np.random.default_rng(5)
    response, value = rng.integers(0, 9, 300), rng.integers(-3, 4, 300)
    counts = response_evidence(RatingTable(response, np.arange(300), value), histogram_bins(-3, 3)).counts
    for code in range(9):
        expected, _ = np.histogram(value[response == code], bins=np.arange(-3.5, 4))
        assert counts[code].tolist() == expected.tolist()


def test_means_over_criteria_are_rounded_half_up_to_points():
    table = RatingTable([0, 0, 0], [0, 1, 2], [2.4, 2.5, 4.9])
    assert response_evidence(table, histogram_bins(1, 5)).counts.tolist() == [[0, 1, 1, 0, 1]]


@pytest.mark.parametrize(
    ("low", "high", "has_points", "kind", "labels"),
    [
        (0, 10, True, "points", ("0", "10", 11)),
        (0, 11, True, "equal", ("0 to 1.1", "9.9 to 11", 10)),
        (1, 100, True, "equal", ("1 to 10.9", "90.1 to 100", 10)),
        (0, 1, False, "equal", ("0 to 0.1", "0.9 to 1", 10)),
        (np.nan, np.nan, True, "ratios", ("at most 1/32", "at least 32", 11)),
    ],
)
def test_bins_follow_the_scale(low, high, has_points, kind, labels):
    bins = histogram_bins(low, high, has_points=has_points)
    assert (bins.kind, (bins.labels[0], bins.labels[-1], len(bins.labels))) == (kind, labels)


def test_means_of_two_criteria_fall_on_half_points_and_those_of_more_into_the_nearest():
    table = RatingTable([0, 0, 0, 0], range(4), [1, 1.5, 1.5, 3.5])
    halves, about = (histogram_bins(1, 4, parts=parts) for parts in (2, 5))
    assert halves.labels == ("1", "1.5", "2", "2.5", "3", "3.5", "4")
    assert response_evidence(table, halves).counts.tolist() == [[1, 2, 0, 0, 0, 1, 0]]
    assert about.labels == ("about 1", "about 2", "about 3", "about 4")


def test_the_ends_of_a_slider_are_in_the_first_and_the_last_bin():
    table = RatingTable([0, 0, 0, 0], [0, 1, 2, 3], [0, 9.9, 10, 100])
    counts = response_evidence(table, histogram_bins(0, 100, has_points=False)).counts
    assert counts.tolist() == [[2, 1, 0, 0, 0, 0, 0, 0, 0, 1]]


def test_magnitudes_fall_into_bins_of_doublings():
    """Ratios 1/100, 1/2, 1, 1.4 (nearer to 1 than to 2, in logarithms), 1.5 and 50 to the standard."""
    ratios = [0.01, 0.5, 1, 1.4, 1.5, 50]
    table = RatingTable([0] * 6, range(6), np.log(ratios))
    bins = histogram_bins(np.nan, np.nan)
    counts = response_evidence(table, bins).counts[0]
    assert dict(zip(bins.labels, counts.tolist(), strict=True)) == {
        "at most 1/32": 1,
        "1/16": 0,
        "1/8": 0,
        "1/4": 0,
        "1/2": 1,
        "1": 2,
        "2": 1,
        "4": 0,
        "8": 0,
        "16": 0,
        "at least 32": 1,
    }


@pytest.mark.parametrize(("low", "high"), [(5, 1), (1, 1), (1, np.nan), (np.inf, 2)])
def test_an_invalid_scale_is_refused(low, high):
    with pytest.raises(ValueError, match="accepted: two finite numbers, low < high"):
        histogram_bins(low, high)


@given(
    st.integers(-50, 50),
    st.integers(1, 200),
    st.booleans(),
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
)
def test_every_judgement_is_in_one_of_at_most_eleven_bins(low, width, has_points, places):
    bins = histogram_bins(low, low + width, has_points=has_points)
    table = RatingTable([0] * len(places), range(len(places)), low + width * np.array(places))
    counts = response_evidence(table, bins).counts
    assert counts.shape == (1, len(bins.labels))
    assert len(bins.labels) == len(bins.inner) + 1 <= MOST_BINS
    assert counts.sum() == len(places)
