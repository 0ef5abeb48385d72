"""Everything known about one response: where it came from, what raters said, what it weighs and why."""

from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.models import JobState, Rating, ReleaseWeight, Response
from annotation.selectors.checks import rater_names
from annotation.selectors.releases import release_judgements


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
    "reference_set", "release", "method", "weight", "rating_mean", "n_ratings", "standard_error", "low", "high",
    "is_original", "judgements", "steps",
)  # fmt: skip


def explained_row(explained: ExplainedWeight) -> tuple[Any, ...]:
    weight = explained.weight
    return (
        weight.release.reference_set.slug, weight.release.number, weight.release.method, weight.weight,
        weight.rating_mean, weight.n_ratings, weight.standard_error, weight.low, weight.high, weight.is_original,
        [{"rater": rater, "value": value} for rater, value in explained.judgements], explained.steps,
    )  # fmt: skip


def _explained(weight: ReleaseWeight) -> ExplainedWeight:
    table = release_judgements(weight.release)
    mine = table.response_id == weight.response_id
    values = table.value[mine]
    order = np.argsort(values, kind="stable")
    raters = rater_names(table.rater_id[mine])
    judged = [(str(raters[index]), float(values[index])) for index in order]
    bounds = [bound for bound in (weight.low, weight.high) if bound is not None]
    interval = f"[{', '.join(_signed(bound) for bound in bounds)}]"
    return ExplainedWeight(weight, judged, _steps(weight, values, table.low, table.high), interval)


def _steps(weight: ReleaseWeight, values: np.ndarray, low: float, high: float) -> list[str]:
    """The arithmetic in words, one line per step."""
    if weight.release.is_imported:
        known = "" if weight.rating_mean is None else f"mean {_signed(weight.rating_mean, plus=False)} of "
        of = f"{known}{weight.n_ratings} ratings, " if weight.n_ratings else ""
        return [f"{of}{_signed(weight.weight)} as imported", "made elsewhere: its judgements are not known here"]
    mean = _signed(weight.rating_mean, places=2, plus=False)
    result = _signed(weight.weight)
    method = weight.release.method
    if method in {"linear", "median"}:
        centre = weight.rating_mean if method == "linear" else float(np.median(values))
        named = f"{'mean' if method == 'linear' else 'median'} {_signed(centre, plus=False)}"
        return [
            f"{named} on {low:g}–{high:g} of {weight.n_ratings} judgements → {result}",
            f"2 × ({_signed(centre, plus=False)} − {low:g}) / ({high:g} − {low:g}) − 1 = {result}",
        ]
    if method == "zscore":
        return [
            f"mean {mean} on {low:g}–{high:g}; {weight.n_ratings} judgements count, each as its rater's z-score",
            f"mean z-score, clipped at ±{weight.release.parameters['clip']:g} and divided by it → {result}",
        ]
    return [
        f"mean {mean} on {low:g}–{high:g} of {weight.n_ratings} judgements",
        f"each less its rater's bias and weighted by its rater's precision, mapped to −1 … +1 → {result}",
    ]


def _signed(value: float, *, places: int = 2, plus: bool = True) -> str:
    text = f"{abs(value):.{places}f}"
    if float(text) == 0:
        return text
    return f"−{text}" if value < 0 else f"+{text}" if plus else text
