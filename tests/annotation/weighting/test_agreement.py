import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import f_oneway, t

from annotation.weighting.agreement import icc, krippendorff_alpha
from annotation.weighting.table import RatingTable

# Shrout & Fleiss 1979, Table 2: six targets, four judges.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

# Krippendorff 2011, section C: four observers (rows), twelve units (columns), NaN where missing.
NAN = np.nan
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def table_of(matrix):
    rater, response = np.nonzero(~np.isnan(matrix))
    return RatingTable(response, rater, matrix[rater, response])


@pytest.mark.parametrize(("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_equals_krippendorffs_printed_value(level, printed):
    result = krippendorff_alpha(table_of(KRIPPENDORFF), level=level)
    assert result.alpha == pytest.approx(printed, abs=5e-4)
    assert (result.n_responses, result.n_ratings) == (11, 40)  # the unit with one rating cannot be paired


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_of_alpha_comes_from_resampled_responses(level):
    """Compute every resample with the krippendorff package."""
    table = table_of(KRIPPENDORFF)
    result = krippendorff_alpha(table, level=level, n_bootstrap=60, rng=np.random.default_rng(5))
    pairable = KRIPPENDORFF[:, (~np.isnan(KRIPPENDORFF)).sum(axis=0) >= 2]
    n = pairable.shape[1]
    # Responses are drawn in the order of how often they have each value, whatever their order in the table.
    pairable = pairable[:, np.lexsort([(pairable == value).sum(axis=0) for value in range(1, 6)])]
    turned = krippendorff_alpha(
        table_of(KRIPPENDORFF[:, ::-1]), level=level, n_bootstrap=60, rng=np.random.default_rng(5)
    )
    assert [turned.low, turned.high] == pytest.approx([result.low, result.high], abs=1e-12)
    draws = np.random.default_rng(5).multinomial(n, np.full(n, 1 / n), size=60)
    alphas = [krippendorff.alpha(np.repeat(pairable, times, axis=1), level_of_measurement=level) for times in draws]
    error = np.std(alphas, ddof=1) * np.sqrt(n / (n - 1)) / (1 - result.alpha**2)
    reach = t.ppf(0.975, n - 1) * error
    ends = np.tanh([np.arctanh(result.alpha) - reach, np.arctanh(result.alpha) + reach])
    assert [result.low, result.high] == pytest.approx(list(ends), abs=1e-12)
    assert result.low < result.alpha < result.high


def test_alpha_has_no_interval_by_default_or_if_undefined():
    assert np.isnan([krippendorff_alpha(SHROUT_FLEISS).low, krippendorff_alpha(SHROUT_FLEISS).high]).all()
    undefined = krippendorff_alpha([[3, 3], [3, 3]], n_bootstrap=10)
    assert np.isnan([undefined.alpha, undefined.low, undefined.high]).all()


@pytest.mark.parametrize(
    ("options", "name"), [({"n_bootstrap": -1}, "n_bootstrap"), ({"confidence": 1.0}, "confidence")]
)
def test_alpha_refuses_invalid_interval_options(options, name):
    with pytest.raises(ValueError, match=f"{name} is"):
        krippendorff_alpha(SHROUT_FLEISS, **options)


@given(
    st.lists(st.lists(st.sampled_from([1, 2, 3, 5, None]), min_size=4, max_size=4), min_size=2, max_size=8),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_equals_the_krippendorff_library(rows, level):
    matrix = np.array(rows, dtype=float).T
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    expected = krippendorff.alpha(reliability_data=pairable, level_of_measurement=level)
    assert krippendorff_alpha(table_of(matrix), level=level).alpha == pytest.approx(expected, abs=1e-12)


def test_alpha_counts_a_raters_latest_rating_only():
    repeated = RatingTable([0, 0, 0, 1, 1], [0, 1, 0, 0, 1], [5, 2, 2, 4, 4])
    result = krippendorff_alpha(repeated)
    assert (result.alpha, result.n_repeats) == (1.0, 1)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[3], [4]], "no response has ratings of two raters"),
        ([[3, 3], [3, 3]], "every rating is 3: chance agreement is perfect too"),
        ([], "no response has ratings of two raters"),
    ],
)
def test_alpha_is_undefined_with_a_reason(rows, reason):
    result = krippendorff_alpha(rows)
    assert np.isnan(result.alpha)
    assert result.reason == reason


def test_alpha_refuses_an_unknown_level():
    with pytest.raises(ValueError, match="level is 'ratio'; accepted: nominal, ordinal, interval"):
        krippendorff_alpha([[1, 2]], level="ratio")


def test_icc_equals_shrout_and_fleiss_printed_value():
    result = icc(SHROUT_FLEISS)
    # Shrout & Fleiss 1979, Table 4: ICC(1,1) = .17, ICC(1,4) = .44.
    assert (round(result.icc_1, 2), round(result.icc_k, 2)) == (0.17, 0.44)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pingouin's own use of pandas
@pytest.mark.parametrize("seed", [1, 2])
def test_icc_and_its_intervals_equal_pingouins_on_balanced_ratings(seed):
    import pingouin  # here, because it takes each process that imports it half a second

    rng = np.random.default_rng(seed)
    rows = (rng.normal(3, 1, (12, 1)) + rng.normal(0, 1, (12, 4))).round(2)
    frame = pd.DataFrame(
        {"target": np.repeat(np.arange(12), 4), "rater": np.tile(np.arange(4), 12), "rating": rows.ravel()}
    )
    oracle = pingouin.intraclass_corr(frame, targets="target", raters="rater", ratings="rating")
    result = icc(rows)
    single, mean = oracle.iloc[0], oracle.iloc[3]
    interval = next(column for column in oracle.columns if column.startswith("CI95"))
    assert result.icc_1 == pytest.approx(single["ICC"], abs=1e-9)
    assert result.icc_k == pytest.approx(mean["ICC"], abs=1e-9)
    assert [result.icc_1_low, result.icc_1_high] == pytest.approx(list(single[interval]), abs=6e-3)
    assert [result.icc_k_low, result.icc_k_high] == pytest.approx(list(mean[interval]), abs=6e-3)


def test_icc_of_unequal_numbers_follows_from_the_one_way_anova():
    rows = [[1, 2], [4, 5, 5], [3], [2, 4, 3, 3]]
    result = icc(rows)
    assert result.f == pytest.approx(f_oneway(*rows).statistic, rel=1e-12)
    assert result.icc_k == pytest.approx(1 - 1 / result.f)
    # k0 by its definition: (10 - (4 + 9 + 1 + 16) / 10) / 3
    assert result.k == pytest.approx(7 / 3)
    assert result.icc_1 == pytest.approx((result.f - 1) / (result.f + 7 / 3 - 1))


def test_a_raters_repeats_are_not_raters_to_icc():
    """Shrout & Fleiss's table with each rating given twice, the first time at random."""
    n, k = np.shape(SHROUT_FLEISS)
    response, rater = (codes.ravel() for codes in np.indices((n, k)))
    first = np.random.default_rng(1).integers(1, 11, n * k)
    values = np.concatenate([first, np.ravel(SHROUT_FLEISS)])
    result = icc(RatingTable(np.tile(response, 2), np.tile(rater, 2), values))
    assert (round(result.icc_1, 2), round(result.icc_k, 2), result.k) == (0.17, 0.44, 4)
    # Two ratings of each response, both by one rater: nothing is known of other raters.
    assert icc(RatingTable([0, 0, 1, 1], [0, 0, 0, 0], [1, 2, 4, 5])).reason == "no response has ratings of two raters"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, 2]], "fewer than two responses have ratings"),
        ([[1], [2]], "no response has ratings of two raters"),
        ([[2, 2], [2, 2]], "every rating is the same"),
    ],
)
def test_icc_is_undefined_with_a_reason(rows, reason):
    result = icc(rows)
    assert np.isnan([result.icc_1, result.icc_k, result.icc_1_low, result.f]).all()
    assert result.reason == reason


def test_full_agreement_is_an_icc_of_one():
    result = icc([[0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.7, 0.7, 0.7]])
    assert (result.icc_1, result.icc_1_low, result.icc_k, result.icc_k_high) == (1, 1, 1, 1)
