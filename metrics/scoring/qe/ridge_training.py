"""Ridge regression as a quality estimator: the baseline beside the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.core.numbers import finite_or_none
from metrics.scoring.qe.coefficients import pearson, spearman
from metrics.scoring.qe.features import features
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.ridge import STRENGTHS, ridge


def best_ridge(data: TrainingData, development: Sequence[Example]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays of the strength that Pearson and Spearman on the development part favour, and these."""
    examples = data.all
    rows = features([each.source for each in examples], [each.output for each in examples])
    weights, intercepts = ridge(rows, np.array([each.rating for each in examples]))
    predicted = features([each.source for each in development], [each.output for each in development]) @ weights.T
    rated = np.array([each.rating for each in development])
    coefficients = [(pearson(each, rated), spearman(each, rated)) for each in predicted.T]
    # Of equally good ones the strongest, which is the last.
    best = max(range(len(STRENGTHS)), key=lambda at: (float(np.nansum(coefficients[at])), at))
    arrays = {"weights": weights[best], "intercept": intercepts[best : best + 1]}
    r, rho = map(finite_or_none, coefficients[best])
    return arrays, {"strength": STRENGTHS[best], "pearson": r, "spearman": rho}
