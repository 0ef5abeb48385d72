"""What a cross-validation says: coefficients and errors by seed, beside baselines and columns of scores."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.numbers import finite_or_none
from metrics.scoring.arrays import Floats
from metrics.scoring.qe.coefficients import errors, pearson, spearman
from metrics.scoring.qe.cross_validation import CrossValidated
from metrics.scoring.qe.options import FOLDS
from metrics.scoring.williams import williams_test

MEASURES = ("pearson", "spearman", "mae", "rmse")
HEADINGS = ("Pearson’s r", "Spearman’s ρ", "MAE", "RMSE")


@dataclass(frozen=True, eq=False)
class Row:
    """A line of the report: a measure by seed, NaN where undefined; a column of scores has no errors in points."""

    name: str
    n: int
    by_seed: Mapping[str, Sequence[float]]

    @classmethod
    def of(cls, name: str, values: Floats, ratings: Floats, *, in_points: bool = True) -> Row:
        """Compare values (k, n) of k seeds with the ratings, where they are defined."""
        rows = []
        for each in values:
            known = np.isfinite(each)
            apart = errors(each[known], ratings[known]) if in_points else (math.nan, math.nan)
            rows.append((pearson(each[known], ratings[known]), spearman(each[known], ratings[known]), *apart))
        return cls(name, int(known.sum()), dict(zip(MEASURES, zip(*rows, strict=True), strict=True)))

    def mean(self, measure: str) -> float:
        return float(np.mean(self.by_seed[measure]))

    def spread(self, measure: str) -> float:
        """Return the standard deviation over seeds; NaN for one seed."""
        values = self.by_seed[measure]
        return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n": self.n,
            **{
                measure: {
                    "mean": finite_or_none(self.mean(measure)),
                    "spread": finite_or_none(self.spread(measure)),
                    "by_seed": [finite_or_none(value) for value in self.by_seed[measure]],
                }
                for measure in MEASURES
            },
        }


@dataclass(frozen=True)
class Test:
    """Williams' test of the predictions against one column, with either coefficient, for each seed."""

    __test__ = False

    against: str
    coefficient: str
    statistics: tuple[float, ...]
    pvalues: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "against": self.against,
            "coefficient": self.coefficient,
            "t": [finite_or_none(each) for each in self.statistics],
            "p": [finite_or_none(each) for each in self.pvalues],
        }


def tests_against(name: str, values: Floats, other: Floats, ratings: Floats) -> list[Test]:
    """Test predictions (k, n) against another column (n,) or (k, n), where both are defined."""
    tests = []
    for key, coefficient in (("pearson", pearson), ("spearman", spearman)):
        results = []
        for each, against in zip(values, np.broadcast_to(other, values.shape), strict=True):
            known = np.isfinite(each) & np.isfinite(against)
            x, y, human = each[known], against[known], ratings[known]
            result = williams_test(coefficient(human, x), coefficient(human, y), coefficient(x, y), int(known.sum()))
            results.append((result.statistic, result.pvalue))
        statistics, pvalues = zip(*results, strict=True)
        tests.append(Test(name, key, statistics, pvalues))
    return tests


@dataclass(frozen=True, eq=False)
class QualityReport:
    """A cross-validation beside its baselines."""

    settings: Mapping[str, Any]
    rows: Sequence[Row]
    tests: Sequence[Test]
    folds: str
    read_before: int
    curves: Sequence[Sequence[Mapping[str, Any]]]

    def as_json(self) -> str:
        written = {
            **self.settings,
            "rows": [each.as_json() for each in self.rows],
            "tests": [each.as_json() for each in self.tests],
            "read_before": self.read_before,
            "runs": self.curves,
        }
        return json.dumps(written, ensure_ascii=False, indent=1) + "\n"

    def as_markdown(self) -> str:
        """Return the table, each mean with the spread over seeds, what its folds kept together, and the tests."""
        lines = ["| | " + " | ".join(HEADINGS) + " |", "| --- |" + " ---: |" * len(HEADINGS)]
        lines += [f"| {row.name} | " + " | ".join(_cell(row, each) for each in MEASURES) + " |" for row in self.rows]
        so = f" It was so for {self.read_before:,} of {self.rows[-1].n:,}." if self.read_before else ""
        tests = [_sentence(each) for each in self.tests]
        return "\n".join([*lines, "", f"{FOLDS[self.folds]}{so}", *([""] if tests else []), *tests]) + "\n"


def quality_report(
    result: CrossValidated,
    ratings: Floats,
    settings: Mapping[str, Any],
    *,
    name: str,
    baseline: CrossValidated | None,
    scores: Mapping[str, Floats],
) -> QualityReport:
    """Return rows of the constant, of columns of scores, of the ridge baseline and of the predictions."""
    tested = np.isfinite(result.raw[0])
    rated = np.where(tested, ratings, np.nan)
    rows = [Row.of("Constant, mean of training", result.constant[None], rated)]
    # A constant of each fold correlates with ratings by accident alone.
    rows[0] = Row(rows[0].name, rows[0].n, {**rows[0].by_seed, "pearson": (math.nan,), "spearman": (math.nan,)})
    for column, values in scores.items():
        rows.append(Row.of(column, np.where(tested, values, np.nan)[None], rated, in_points=False))
    tests = [test for column, values in scores.items() for test in tests_against(column, result.values, values, rated)]
    if baseline is not None:
        rows.append(Row.of("Ridge regression on n-grams", baseline.values, rated))
        tests += tests_against(rows[-1].name, result.values, baseline.values[0], rated)
    rows.append(Row.of(name, result.values, rated))
    return QualityReport(settings, rows, tests, settings["options"]["folds"], result.read_before, result.about)


def _cell(row: Row, measure: str) -> str:
    mean, spread = row.mean(measure), row.spread(measure)
    if math.isnan(mean):
        return "–"
    return f"{mean:.3f}" if math.isnan(spread) else f"{mean:.3f} ± {spread:.3f}"


def _sentence(test: Test) -> str:
    known = [each for each in test.pvalues if not math.isnan(each)]
    label = {"pearson": "Pearson’s r", "spearman": "Spearman’s ρ"}[test.coefficient]
    if not known:
        return f"- {label} against {test.against}: undefined."
    ahead = sum(each > 0 for each in test.statistics)
    worst = max(known)
    p = f"p < {10.0 ** math.ceil(math.log10(worst)):g}" if 0 < worst < 1e-3 else f"p ≤ {worst:.3f}"
    return f"- {label} against {test.against}: higher for {ahead} of {len(known)} seeds; Williams’ test {p}."
