import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from correlations.stats.intervals import fisher_z_interval
from correlations.stats.significance import holm_correction, paired_permutation_test, williams_test

# Galley et al. 2015, Table 2, as printed: rho and tau of BLEU, sBLEU and ΔBLEU, each on three reference subsets.
PRINTED = [
    (0.260, 0.178, 0.337),
    (0.171, 0.087, 0.252),
    (0.343, 0.265, 0.416),
    (0.232, 0.150, 0.312),
    (0.318, 0.239, 0.392),
    (0.212, 0.129, 0.292),
    (0.265, 0.183, 0.342),
    (0.175, 0.091, 0.256),
    (0.330, 0.252, 0.404),
    (0.222, 0.140, 0.302),
    (0.258, 0.177, 0.336),
    (0.167, 0.083, 0.249),
    (0.280, 0.199, 0.357),
    (0.187, 0.103, 0.268),
    (0.405, 0.331, 0.474),
    (0.281, 0.200, 0.357),
    (0.484, 0.415, 0.546),
    (0.342, 0.265, 0.415),
]


@pytest.mark.parametrize(("r", "low", "high"), PRINTED)
def test_fisher_interval_with_528_observations_reproduces_the_printed_table(r, low, high):
    interval = fisher_z_interval(r, 528)
    assert tuple(round(end, 3) for end in interval) == pytest.approx((low, high), abs=0.001 + 1e-9)


def test_fisher_interval_equals_scipy_at_another_level():
    x = np.random.default_rng(1).normal(size=(2, 40))
    result = stats.pearsonr(x[0], x[0] + x[1])
    expected = result.confidence_interval(0.9)
    assert fisher_z_interval(result.statistic, 40, confidence=0.9) == pytest.approx(tuple(expected), abs=1e-12)


def test_fisher_interval_is_nan_without_degrees_of_freedom_and_a_point_at_one():
    assert all(math.isnan(end) for end in (*fisher_z_interval(0.5, 3), *fisher_z_interval(math.nan, 50)))
    assert fisher_z_interval(1.0, 50) == (1.0, 1.0)
    with pytest.raises(ValueError, match=r"r is 1\.2"):
        fisher_z_interval(1.2, 50)
    with pytest.raises(ValueError, match="confidence is 95"):
        fisher_z_interval(0.2, 50, confidence=95)


def test_williams_reproduces_the_worked_example_of_the_psych_package():
    """R's psych::r.test(103, .4, .5, .1), its documentation's second example: t = -.89, p = .37 (n - 3 degrees)."""
    result = williams_test(0.4, 0.5, 0.1, 103)
    assert (round(result.statistic, 2), round(result.pvalue, 2)) == (-0.89, 0.37)


def test_williams_degrees_of_freedom_only_change_the_p_value():
    textbook, script = (williams_test(0.7, 0.4, 0.5, 12, dof=dof) for dof in ("n-3", "n-2"))
    assert textbook.statistic == script.statistic
    assert textbook.pvalue == pytest.approx(2 * stats.t.sf(textbook.statistic, 9), rel=1e-12)
    assert script.pvalue == pytest.approx(2 * stats.t.sf(textbook.statistic, 10), rel=1e-12)


def test_williams_test_has_its_nominal_level():
    """Two metrics equally related to the human scores: 5% of the tests at the 5% level reject."""
    rng = np.random.default_rng(5)
    human, first, second = rng.normal(size=(3, 2000, 30)) + rng.normal(size=(2000, 30))
    rejected = 0
    for h, a, b in zip(human, first, second, strict=True):
        r = np.corrcoef([h, a, b])
        rejected += williams_test(r[0, 1], r[0, 2], r[1, 2], 30).pvalue < 0.05
    assert rejected / 2000 == pytest.approx(0.05, abs=0.015)  # three standard errors


def test_williams_is_undefined_with_a_reason():
    assert williams_test(0.5, 0.4, 0.3, 3).reason == "3 observations: at least 4 are needed"
    assert williams_test(math.nan, 0.4, 0.3, 30).reason == "r12 is undefined"
    assert "alike" in (williams_test(1.0, 1.0, 1.0, 30).reason or "")
    with pytest.raises(ValueError, match="dof is 'n'"):
        williams_test(0.5, 0.4, 0.3, 30, dof="n")


@pytest.mark.parametrize("mirrored", [False, True])
def test_paired_permutation_equals_the_enumeration_of_all_swaps(mirrored):
    """With 8 units all 256 labellings can be listed; the drawn p-value must come close to the exact one."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=8)
    first, second = human + 0.6 * rng.normal(size=8), human + 1.5 * rng.normal(size=8)
    centre = (lambda v: v) if mirrored else (lambda v: v - v.mean())
    a, b = (centre(v) / np.sqrt((centre(v) ** 2).mean()) for v in (first, second))

    def difference(x, y):
        if mirrored:
            x, y, h = (np.concatenate([v, -v]) for v in (x, y, human))
        else:
            h = human
        return stats.kendalltau(x, h)[0] - stats.kendalltau(y, h)[0]

    swaps = (np.arange(256)[:, None] >> np.arange(8)) & 1 == 1
    observed = difference(a, b)
    exact = np.mean([abs(difference(np.where(s, b, a), np.where(s, a, b))) >= abs(observed) - 1e-9 for s in swaps])
    result = paired_permutation_test(
        first, second, human, rng=np.random.default_rng(1), coefficient="kendall", mirrored=mirrored
    )
    assert result.statistic == pytest.approx(observed, abs=1e-12)
    assert result.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))


def test_paired_permutation_of_a_constant_metric_is_undefined_with_a_reason():
    result = paired_permutation_test([1, 1, 1, 1], [1, 2, 3, 4], [1, 2, 3, 5], rng=np.random.default_rng(1))
    assert math.isnan(result.pvalue)
    assert "undefined" in (result.reason or "")


def test_holm_equals_statsmodels_and_leaves_undefined_tests_out():
    pvalues = np.array([0.04, 0.001, 0.5, 0.012, 0.012, 0.9])
    rejected, adjusted, _, _ = multipletests(pvalues, method="holm")
    with_gap = holm_correction(np.insert(pvalues, 2, np.nan))
    assert np.isnan(with_gap.adjusted[2])
    assert not with_gap.rejected[2]
    np.testing.assert_allclose(np.delete(with_gap.adjusted, 2), adjusted, atol=1e-12)
    assert np.delete(with_gap.rejected, 2).tolist() == rejected.tolist()


def test_holm_names_the_value_that_is_not_a_probability():
    with pytest.raises(ValueError, match=r"pvalues\[1\] is .*1\.5"):
        holm_correction([0.2, 1.5])
