import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from correlations.stats.system_level import system_level_correlation

TABLE = Path(__file__).parents[2] / "data" / "dstc6_table1.csv"
# D'Haro et al. 2019, Table 1: the printed rows "Pearson Correlation" and "p-value".
PRINTED = {
    "BLEU_4": (-0.5108, 0.0214),
    "METEOR": (0.3628, 0.1159),
    "ROUGE_L": (0.1450, 0.5420),
    "CIDEr": (-0.1827, 0.4408),
    "SkipThoughts": (-0.4563, 0.0432),
    "EmbeddingAverage": (0.7768, 0.0001),
    "VectorExtrema": (0.2345, 0.3196),
    "GreedyMatching": (0.4028, 0.0782),
    "AM_FM": (0.8907, 1.41e-7),
}


@pytest.fixture(scope="module")
def table():
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["system"] for row in rows]
    return names, {column: [float(row[column]) for row in rows] for column in rows[0] if column != "system"}


@pytest.mark.parametrize("metric", PRINTED)
def test_printed_correlations_follow_from_the_printed_scores(table, metric):
    names, columns = table
    result = system_level_correlation(columns[metric], columns["human_mean"], names)
    assert result.values["pearson"] == pytest.approx(PRINTED[metric][0], abs=5e-4)
    assert result.pvalues["pearson"] == pytest.approx(PRINTED[metric][1], abs=2e-3)  # r is rounded, which changes p


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
