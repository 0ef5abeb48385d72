"""Intervals of agreement between raters. The truth is that of the same raters on endless responses."""

from __future__ import annotations

from functools import partial

import numpy as np

from annotation.weighting.agreement import icc, krippendorff_alpha
from annotation.weighting.kappa import pairwise_weighted_kappa
from annotation.weighting.table import RatingTable
from benchmarks.coverage.case import Case, Hits, Setting, held
from benchmarks.coverage.worlds import qualities, raters

ENDLESS = 40_000
CROWDS, SAMPLES = 20, 50
DESIGNS = {  # responses, raters, ratings of each response
    "60 responses, 3 of 10 raters each": (60, 10, 3),
    "100 responses, a panel of 4": (100, 4, 4),
    "30 responses, a panel of 3": (30, 3, 3),
    "100 responses, 3 of 30 raters each": (100, 30, 3),
    "300 responses, 3 of 60 raters each": (300, 60, 3),
}


def ends(table: RatingTable, measure: str) -> tuple[float, float, float]:
    """Return estimate, low and high."""
    if measure == "kappa":
        kappa = pairwise_weighted_kappa(table)
        return kappa.kappa, kappa.low, kappa.high
    if measure.startswith("icc"):
        result = icc(table)
        return getattr(result, measure), getattr(result, f"{measure}_low"), getattr(result, f"{measure}_high")
    n_bootstrap = 0 if len(table) > 10_000 else 300
    alpha = krippendorff_alpha(table, level="ordinal", n_bootstrap=n_bootstrap)
    return alpha.alpha, alpha.low, alpha.high


def trial(rng: np.random.Generator, *, measure: str, design: tuple[int, int, int]) -> Hits:
    responses, n, k = design
    crowd = raters(n, rng)
    truth = ends(crowd.table(qualities(ENDLESS, rng), k, rng), measure)[0]
    samples = [ends(crowd.table(qualities(responses, rng), k, rng), measure) for _ in range(SAMPLES)]
    return np.concatenate([held([low], truth, [high]) for _, low, high in samples])


def case(shown: str, function: str, field: str, measure: str) -> Case:
    settings = (
        Setting(label, partial(trial, measure=measure, design=design), CROWDS) for label, design in DESIGNS.items()
    )
    return Case(shown, function, (field,), tuple(settings), "95% interval, these raters")


CASES = (
    case("Krippendorff's α", "annotation.weighting.agreement.krippendorff_alpha", "AlphaResult.low", "alpha"),
    case("ICC(1)", "annotation.weighting.agreement.icc", "IccResult.icc_1_low", "icc_1"),
    case("ICC(k)", "annotation.weighting.agreement.icc", "IccResult.icc_k_low", "icc_k"),
    case("Pairwise κ", "annotation.weighting.kappa.pairwise_weighted_kappa", "PairwiseKappaResult.low", "kappa"),
)
