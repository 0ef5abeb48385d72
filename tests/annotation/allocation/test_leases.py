import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation.allocation.leases import adaptive_lease

times = st.lists(st.floats(0, 1e5), min_size=20, max_size=60)
BOUNDS = {"low": 60, "high": 3600, "initial": 600}


def test_a_lease_is_five_medians_once_twenty_times_are_known():
    assert adaptive_lease([10] * 9 + [40] * 10, **BOUNDS) == 600
    assert adaptive_lease([10] * 9 + [40] * 11, **BOUNDS) == 200
    assert adaptive_lease([10] * 10 + [40.5] * 10, **BOUNDS) == math.ceil(5 * 25.25)


def test_unknown_times_do_not_count():
    assert adaptive_lease([40] * 19 + [math.nan] * 50, **BOUNDS) == 600
    assert adaptive_lease([40] * 20 + [math.nan] * 50, **BOUNDS) == 200


@given(times)
def test_a_lease_is_a_whole_number_of_seconds_within_its_bounds(seconds):
    lease = adaptive_lease(seconds, **BOUNDS)
    assert isinstance(lease, int)
    assert 60 <= lease <= 3600
    assert lease == min(max(math.ceil(5 * float(np.median(seconds))), 60), 3600)


@pytest.mark.parametrize(("initial", "lease"), [(5, 60), (90.2, 91), (9999, 3600)])
def test_the_initial_lease_is_kept_within_the_bounds(initial, lease):
    assert adaptive_lease([], low=60, high=3600, initial=initial) == lease


@given(times, st.integers(1, 9))
def test_a_minority_of_outliers_keeps_the_lease_within_the_range_of_honest_times(honest, strays):
    bounds = {"low": 1e-6, "high": 1e9, "initial": 1}
    for stray in (0.0, 1e8):
        lease = adaptive_lease([*honest, *[stray] * strays], **bounds)
        assert math.floor(5 * min(honest)) <= lease <= math.ceil(5 * max(honest)) + 1


@pytest.mark.parametrize(("sigma", "share"), [(0.5, 0.0006), (0.7, 0.0107), (1.0, 0.0538)])
def test_documented_shares_of_screens_outlast_the_lease(sigma, share):
    # The shares in the docstring, from scipy's log-normal distribution and from a sample.
    assert stats.lognorm(sigma).sf(5) == pytest.approx(share, abs=5e-5)
    sample = np.random.default_rng(3).lognormal(math.log(30), sigma, 40_000)
    lease = adaptive_lease(sample, low=5, high=3600, initial=600)
    assert np.mean(sample > lease) == pytest.approx(share, rel=0.25)


def test_counting_late_answers_lengthens_a_lease_that_is_too_short():
    sample = np.random.default_rng(5).lognormal(math.log(300), 0.6, 500)
    too_short = 60
    assert adaptive_lease(sample[sample < too_short], low=5, high=3600, initial=too_short, minimum_n=1) < 300
    assert adaptive_lease(sample, low=5, high=3600, initial=too_short) == pytest.approx(1500, rel=0.15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": 0}, "low is 0; accepted: a number of seconds above 0"),
        ({"high": 59}, "high is 59; accepted: a number of seconds, 60"),
        ({"high": math.inf}, "high is inf"),
        ({"initial": math.nan}, "initial is nan"),
        ({"minimum_n": 0}, "minimum_n is 0"),
        ({"factor": 0.5}, "factor is 0.5; accepted: 1 or more"),
        ({"seconds": [1, -2]}, r"seconds\[1\] is -2.0; accepted: 0 or more"),
        ({"seconds": [math.inf]}, r"seconds\[0\] is inf"),
    ],
)
def test_values_out_of_range_are_refused(change, message):
    arguments = {"seconds": [10.0], **BOUNDS, **change}
    with pytest.raises(ValueError, match=message):
        adaptive_lease(arguments.pop("seconds"), **arguments)
