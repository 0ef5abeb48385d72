"""Everything known about one response: its ratings, its weight in each release, and how that came about."""

from typing import NamedTuple, cast

import numpy as np

from annotation.core.exports import Column
from annotation.models import JobState, Participation, Rating, ReleaseWeight, Response
from annotation.quality.selectors.checks import rater_names
from annotation.references.releases.selectors.releases import HASHED_COLUMNS, release_judgements
from annotation.weighting.scheme import WeighedResponse, two_decimals
from annotation.weighting.schemes import get_scheme


class LoggedRating(NamedTuple):
    rating: Rating
    status: str

    @property
    def counts(self) -> bool:
        return self.status == "counts"


RATING_COLUMNS: dict[str, Column] = {
    "rating": "rating.pk",
    "campaign": "rating.campaign.name",
    "rater": "rating.rater.pseudonym",
    "criterion": "rating.criterion.name",
    "turn": "rating.turn",
    "value": "rating.value",
    "rated_as": lambda logged: logged.rating.rated_as and logged.rating.rated_as.name,
    "position": lambda logged: None if logged.rating.position is None else logged.rating.position + 1,
    "revision": "rating.revision",
    "status": "status",
    "shown_at": "rating.presentation.shown_at",
    "sent_at": "rating.sent_at",
    "source_row": "rating.presentation.source_row",
    "seconds": "rating.presentation.seconds",
    "order_seed": "rating.presentation.order_seed",
}


Answered = tuple[int, int, int | None, bool]  # presentation, criterion, turn, extra


def response_ratings(response: Response) -> list[LoggedRating]:
    """Return the raw log of a response, in the order of events within each campaign."""
    log = response.ratings.select_related("campaign", "rater", "criterion", "rated_as", "presentation")
    ratings = list(log.order_by("campaign_id", "presentation_id", "criterion__position", "turn", "revision"))
    latest = {_answered(rating): rating.pk for rating in ratings}
    excluded = set(
        Participation.objects.filter(
            campaign__in={rating.campaign_id for rating in ratings}, excluded_at__isnull=False
        ).values_list("campaign_id", "rater_id")
    )
    return [LoggedRating(rating, _status(rating, latest, excluded)) for rating in ratings]


def _answered(rating: Rating) -> Answered:
    return rating.presentation_id, rating.criterion_id, rating.turn, rating.extra


def _status(rating: Rating, latest: dict[Answered, int], excluded: set[tuple[int, int]]) -> str:
    if rating.extra:
        return "extra"
    if rating.pk != latest[_answered(rating)]:
        return "superseded"
    return "excluded" if (rating.campaign_id, rating.rater_id) in excluded else "counts"


class ExplainedWeight(NamedTuple):
    weight: ReleaseWeight
    judgements: list[tuple[str, float]]  # pseudonym and value of those that count, in order of value
    steps: list[str]
    interval: str


EXPLAINED_COLUMNS: dict[str, Column] = {
    "reference_set": "weight.release.reference_set.slug",
    "release": "weight.release.number",
    "method": "weight.release.method",
    **{column: f"weight.{column}" for column in HASHED_COLUMNS},
    "judgements": lambda explained: [{"rater": rater, "value": value} for rater, value in explained.judgements],
    "steps": "steps",
}


def response_weights(response: Response) -> list[ExplainedWeight]:
    """Return a response's weight in every finished release, newest first, with its judgements and steps."""
    weights = response.weights.filter(release__state=JobState.DONE).select_related("release__reference_set")
    return [_explained(weight) for weight in weights.order_by("release__reference_set__name", "-release__number")]


def _explained(weight: ReleaseWeight) -> ExplainedWeight:
    table = release_judgements(weight.release)
    of_response = table.response_id == weight.response_id
    values = table.value[of_response]
    order = np.argsort(values, kind="stable")
    raters = rater_names(table.rater_id[of_response])
    judgements = [(str(raters[index]), float(values[index])) for index in order]
    bounds = [bound for bound in (weight.low, weight.high) if bound is not None]
    interval = f"[{', '.join(two_decimals(bound, plus=True) for bound in bounds)}]"
    return ExplainedWeight(weight, judgements, _steps(weight, values, table.low, table.high), interval)


def _steps(weight: ReleaseWeight, values: np.ndarray, low: float, high: float) -> list[str]:
    """Explain how the weight was computed, one line per step."""
    if weight.release.is_imported:
        mean = "" if weight.rating_mean is None else f"mean {two_decimals(weight.rating_mean)} of "
        ratings = f"{mean}{weight.n_ratings} ratings, " if weight.n_ratings else ""
        return [
            f"{ratings}{two_decimals(weight.weight, plus=True)} as imported",
            "made elsewhere: its judgements are not stored",
        ]
    response = WeighedResponse(
        values, low, high, cast(float, weight.rating_mean), weight.n_ratings, weight.weight, weight.release.parameters
    )
    return get_scheme(weight.release.method).explain(response)
