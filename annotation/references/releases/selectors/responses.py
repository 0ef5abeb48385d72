"""Everything known about one response: where it came from, what raters said, what it weighs and why."""

from typing import Any, NamedTuple, cast

import numpy as np
from django.db.models import QuerySet

from annotation.models import JobState, Rating, ReleaseWeight, Response
from annotation.quality.selectors.checks import rater_names
from annotation.references.releases.selectors.releases import release_judgements
from annotation.weighting.scheme import WeighedResponse, two_decimals
from annotation.weighting.schemes import get_scheme


class LoggedRating(NamedTuple):
    rating: Rating
    counts: bool  # neither extra nor superseded
    status: str


class ExplainedWeight(NamedTuple):
    weight: ReleaseWeight
    judgements: list[tuple[str, float]]  # pseudonym and value of those that count, in order of value
    steps: list[str]
    interval: str


def response_ratings(response: Response) -> list[LoggedRating]:
    """The raw log of a response, in the order things happened within each campaign."""
    log: QuerySet[Rating] = response.ratings.select_related(
        "campaign", "rater", "criterion", "rated_as", "presentation"
    ).order_by("campaign_id", "presentation_id", "criterion__position", "revision")
    rows = list(log)
    latest: dict[tuple[int, int, bool], int] = {}
    for rating in rows:
        latest[rating.presentation_id, rating.criterion_id, rating.extra] = rating.pk
    return [_logged(rating, latest[rating.presentation_id, rating.criterion_id, rating.extra]) for rating in rows]


def _logged(rating: Rating, latest: int) -> LoggedRating:
    superseded = rating.pk != latest
    status = "extra" if rating.extra else "superseded" if superseded else "counts"
    return LoggedRating(rating, not superseded and not rating.extra, status)


RATING_COLUMNS = (
    "rating",
    "campaign",
    "rater",
    "criterion",
    "value",
    "rated_as",
    "position",
    "revision",
    "status",
    "shown_at",
    "sent_at",
    "source_row",
    "seconds",
    "order_seed",
)


def rating_row(logged: LoggedRating) -> tuple[Any, ...]:
    rating = logged.rating
    return (
        rating.pk,
        rating.campaign.name,
        rating.rater.pseudonym,
        rating.criterion.name,
        rating.value,
        rating.rated_as.name if rating.rated_as else None,
        None if rating.position is None else rating.position + 1,
        rating.revision,
        logged.status,
        rating.presentation.shown_at,
        rating.sent_at,
        rating.presentation.source_row,
        rating.presentation.seconds,
        rating.presentation.order_seed,
    )


def response_weights(response: Response) -> list[ExplainedWeight]:
    """Its weight in every finished release, newest first, with the judgements and the steps that led there."""
    weights = (
        response.weights.filter(release__state=JobState.DONE)
        .select_related("release__reference_set")
        .order_by("release__reference_set__name", "-release__number")
    )
    return [_explained(weight) for weight in weights]


EXPLAINED_COLUMNS = (
    "reference_set",
    "release",
    "method",
    "weight",
    "rating_mean",
    "n_ratings",
    "standard_error",
    "low",
    "high",
    "is_original",
    "judgements",
    "steps",
)


def explained_row(explained: ExplainedWeight) -> tuple[Any, ...]:
    weight = explained.weight
    return (
        weight.release.reference_set.slug,
        weight.release.number,
        weight.release.method,
        weight.weight,
        weight.rating_mean,
        weight.n_ratings,
        weight.standard_error,
        weight.low,
        weight.high,
        weight.is_original,
        [{"rater": rater, "value": value} for rater, value in explained.judgements],
        explained.steps,
    )


def _explained(weight: ReleaseWeight) -> ExplainedWeight:
    table = release_judgements(weight.release)
    mine = table.response_id == weight.response_id
    values = table.value[mine]
    order = np.argsort(values, kind="stable")
    raters = rater_names(table.rater_id[mine])
    judged = [(str(raters[index]), float(values[index])) for index in order]
    bounds = [bound for bound in (weight.low, weight.high) if bound is not None]
    interval = f"[{', '.join(two_decimals(bound, plus=True) for bound in bounds)}]"
    return ExplainedWeight(weight, judged, _steps(weight, values, table.low, table.high), interval)


def _steps(weight: ReleaseWeight, values: np.ndarray, low: float, high: float) -> list[str]:
    """Explain how the weight was computed, one line per step."""
    if weight.release.is_imported:
        known = "" if weight.rating_mean is None else f"mean {two_decimals(weight.rating_mean)} of "
        of = f"{known}{weight.n_ratings} ratings, " if weight.n_ratings else ""
        return [
            f"{of}{two_decimals(weight.weight, plus=True)} as imported",
            "made elsewhere: its judgements are not stored",
        ]
    response = WeighedResponse(
        values, low, high, cast(float, weight.rating_mean), weight.n_ratings, weight.weight, weight.release.parameters
    )
    return get_scheme(weight.release.method).explain(response)
