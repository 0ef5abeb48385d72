import csv
import math

import numpy as np
import pytest
from scipy import stats

from correlations.published.table import FOLDER
from correlations.stats.system_level import least_significant_r, system_level_correlation


@pytest.fixture(scope="module")
def table():
    with (FOLDER / "dstc6-table1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["system"] for row in rows]
    return names, {column: [float(row[column]) for row in rows] for column in rows[0] if column != "system"}


def test_rank_correlations_and_leaving_each_system_out_equal_scipy(table):
    names, columns = table
    x, y = np.array(columns["AM_FM"]), np.array(columns["human_mean"])
    result = system_level_correlation(x, y, names)
    assert result.values["spearman"] == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)
    assert result.values["kendall"] == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-12)
    without = result.left_out[4]
    a, b = np.delete(x, 4), np.delete(y, 4)
    assert without.system == "S_5"
    expected = (stats.pearsonr(a, b)[0], stats.spearmanr(a, b)[0], stats.kendalltau(a, b)[0])
    assert tuple(without.values.values()) == pytest.approx(expected, abs=1e-12)


def test_one_outlier_drives_the_printed_correlation(table):
    """S_20's human mean of 2.99 is far below all others; without it AM-FM's .89 drops below .6."""
    names, columns = table
    result = system_level_correlation(columns["AM_FM"], columns["human_mean"], names)
    assert result.most_influential is not None
    assert result.most_influential.system == "S_20"
    assert result.most_influential.values["pearson"] < 0.6


def test_undefined_correlations_have_a_reason_and_bad_input_is_named():
    few = system_level_correlation([1, 2], [1, 2], ["A", "B"])
    assert math.isnan(few.values["pearson"])
    assert few.reason == "2 systems: at least 3 are needed"
    constant = system_level_correlation([1, 1, 1], [1, 2, 3], ["A", "B", "C"])
    assert math.isnan(constant.values["kendall"])
    assert constant.reason == "the metric scores are constant"
    assert constant.most_influential is None
    with pytest.raises(ValueError, match="human score of system 'B' is nan"):
        system_level_correlation([1, 2, 3], [1, math.nan, 3], ["A", "B", "C"])
    with pytest.raises(ValueError, match="'A' is named twice"):
        system_level_correlation([1, 2, 3], [1, 2, 3], ["A", "B", "A"])


def test_the_least_significant_r_is_that_of_printed_tables_and_of_scipys_own_distribution():
    """Critical values of Pearson's r, two-sided, .05, for 1 to 10 degrees of freedom, as textbooks print them."""
    printed = [0.997, 0.950, 0.878, 0.811, 0.754, 0.707, 0.666, 0.632, 0.602, 0.576]
    assert [round(least_significant_r(n), 3) for n in range(3, 13)] == printed
    beta = stats.beta(1, 1, loc=-1, scale=2)  # of r over 4 unrelated systems, as scipy.stats.pearsonr has it
    assert least_significant_r(4) == pytest.approx(beta.ppf(0.975))
    with pytest.raises(ValueError, match="at least 3 systems"):
        least_significant_r(2)
