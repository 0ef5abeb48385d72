"""Figures as downloads show them."""

from typing import Any

from annotation.quality.selectors.monitoring.figures import Figures

POSITION_COLUMNS = (
    "criterion",
    "kind",
    "place",
    "ratings",
    "mean",
    "difference",
    "low",
    "high",
    "p",
    "p_rank",
    "n",
    "undefined_reason",
)
AGREEMENT_COLUMNS = (
    "criterion",
    "ratings",
    "cannot_judge",
    "mean",
    "responses_with_two_raters",
    "alpha",
    "alpha_low",
    "alpha_high",
    "alpha_level",
    "alpha_reason",
    "icc_1",
    "icc_1_low",
    "icc_1_high",
    "icc_k",
    "icc_k_low",
    "icc_k_high",
    "k",
    "icc_reason",
    "kappa",
    "kappa_low",
    "kappa_high",
    "kappa_pairs",
    "kappa_reason",
)
DRIFT_COLUMNS = (
    "criterion",
    "against",
    "slope",
    "low",
    "high",
    "p",
    "ratings",
    "raters",
    "undefined_reason",
    "from",
    "to",
    "n",
    "mean_deviation",
    "deviation_low",
    "deviation_high",
)
ENOUGH_COLUMNS = (
    "weights_of",
    "scheme",
    "responses",
    "rated",
    "half_width_now",
    "half_width_at_k",
    "target",
    "ratings_per_response",
    "more_ratings",
    "responses_reached",
    "undefined_reason",
)


def position_rows(figures: Figures) -> list[tuple[Any, ...]]:
    """One row per criterion and place; the test belongs to the criterion and stands in each of its rows."""
    return [
        (
            one.criterion,
            one.kind,
            place,
            n,
            mean,
            one.difference,
            one.low,
            one.high,
            one.pvalue,
            one.rank_pvalue,
            one.n,
            one.reason,
        )
        for one in figures.positions
        for place, n, mean in one.means
    ]


def agreement_rows(figures: Figures) -> list[tuple[Any, ...]]:
    return [
        (
            one.name,
            one.n_ratings,
            one.n_cannot_judge,
            one.mean,
            one.alpha.n_responses,
            one.alpha.alpha,
            one.alpha.low,
            one.alpha.high,
            one.alpha.level,
            one.alpha.reason,
            one.icc.icc_1,
            one.icc.icc_1_low,
            one.icc.icc_1_high,
            one.icc.icc_k,
            one.icc.icc_k_low,
            one.icc.icc_k_high,
            one.icc.k,
            one.icc.reason,
            one.kappa.kappa,
            one.kappa.low,
            one.kappa.high,
            one.kappa.n_pairs,
            one.kappa.reason,
        )
        for one in figures.criteria
    ]


def drift_rows(figures: Figures) -> list[tuple[Any, ...]]:
    """One row per criterion and stretch of time, or of the rater's own sequence of screens."""
    return [
        (
            one.name,
            against,
            test.slope,
            test.low,
            test.high,
            test.pvalue,
            test.n,
            test.n_raters,
            test.reason,
            part.start,
            part.end,
            part.n,
            part.mean,
            part.low,
            part.high,
        )
        for one in figures.criteria
        for against, test, parts in (
            ("hours", one.by_hours, one.over_hours),
            ("screens", one.by_place, one.over_places),
        )
        for part in parts
    ]


def enough_rows(figures: Figures) -> list[tuple[Any, ...]]:
    return [
        (
            one.what,
            one.scheme,
            one.n_responses,
            one.n_rated,
            one.half_width,
            one.at_k,
            target.half_width,
            target.needed or None,
            target.more,
            target.n_reached,
            one.reason,
        )
        for one in figures.enough
        for target in one.targets
    ]
