"""Reads over campaigns: how far they are, their log of ratings, their raters."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.core.pages import newest_page
from annotation.models import (
    Campaign,
    CampaignState,
    Item,
    Presentation,
    PresentationOutcome,
    Project,
    Purpose,
    Rating,
    ResponseList,
    ResponseSource,
    SourceKind,
    Target,
    Unit,
)

RATING_COLUMNS = (
    "rating",
    "item",
    "response",
    "text",
    "systems",
    "rated_as",
    "rater",
    "criterion",
    "value",
    "position",
    "revision",
    "extra",
    "seconds",
    "sent_at",
    "source_row",
)


class RaterRow(NamedTuple):
    rater_id: int
    pseudonym: str
    done: int
    late: int
    given_back: int
    lapsed: int
    median_seconds: float | None
    first_shown: object
    last_ended: object


def plain_campaigns(project: Project) -> QuerySet[Campaign]:
    """Without the counts, which take a while where a campaign is large."""
    return Campaign.objects.filter(project=project).select_related("dataset")


def campaigns_of(project: Project) -> QuerySet[Campaign]:
    """Each with ``n_units``, ``n_done`` (judgements that count), ``n_raters`` and ``n_wanted`` (slots planned)."""
    units = Unit.objects.filter(campaign=OuterRef("pk")).order_by().values("campaign")
    judged = (
        Presentation.objects.filter(
            campaign=OuterRef("pk"),
            purpose=Purpose.WORK,
            outcome__in=[PresentationOutcome.SUBMITTED, PresentationOutcome.IMPORTED],
        )
        .order_by()
        .values("campaign")
    )

    def number(query: QuerySet[Unit] | QuerySet[Presentation], **total: Count | Sum) -> Coalesce:
        (name,) = total
        return Coalesce(Subquery(query.annotate(**total).values(name)), 0, output_field=IntegerField())

    return (
        plain_campaigns(project)
        .annotate(
            n_units=number(units, total=Count("pk")),
            n_done=number(judged, total=Count("pk")),
            n_raters=number(judged, raters=Count("rater", distinct=True)),
        )
        .annotate(n_wanted=F("n_units") * F("ratings_per_unit"))
    )


def campaigns_by_state(project: Project) -> dict[str, int]:
    """How many there are of each state, in the order of a campaign's life."""
    rows = Campaign.objects.filter(project=project).order_by().values_list("state").annotate(n=Count("pk"))
    found = dict(rows)
    return {state: found.get(state, 0) for state in CampaignState.values}


def rated_sources(campaign: Campaign) -> QuerySet[ResponseSource]:
    """The sources whose responses a campaign has rated, by all that says what is rated, in the order of the items."""
    found = ResponseSource.objects.filter(item__dataset=campaign.dataset)
    listed = ResponseList.responses.through.objects.filter(responselist=campaign.response_list_id)
    if campaign.target == Target.LISTED:
        found = found.filter(response__in=listed.values("response"))
    if campaign.split:
        found = found.filter(item__split=campaign.split)
    if campaign.item_limit is not None:
        items = Item.objects.filter(dataset=campaign.dataset)
        if campaign.split:
            items = items.filter(split=campaign.split)
        if campaign.target == Target.LISTED:  # the first items of the list, not of the data set
            items = items.filter(pk__in=listed.values("response__item"))
        found = found.filter(item__in=items.order_by("position")[: campaign.item_limit].values("pk"))
    if campaign.target == Target.REFERENCES:
        found = found.exclude(kind=SourceKind.SYSTEM)
        if campaign.reference_kinds:
            found = found.filter(kind__in=campaign.reference_kinds)
    elif campaign.target == Target.OUTPUTS:
        found = found.filter(kind=SourceKind.SYSTEM)
    elif campaign.target == Target.CHOSEN:
        found = found.filter(system__in=campaign.systems.values("pk"))
    if campaign.pairs:
        found = found.filter(system__name__in={name for pair in campaign.pairs for name in pair})
    return found.order_by("item__position", "response_id", "id")


def ratings_page(campaign: Campaign, *, before: int | None, size: int) -> tuple[list[Rating], int | None]:
    """The latest ratings, or those before a rating id; and the id to continue from, if there are more."""
    ratings = Rating.objects.filter(campaign=campaign).order_by("-id")
    related = ("response__item", "rater", "criterion", "rated_as", "presentation__unit")
    return newest_page(ratings.select_related(*related), before=before, size=size)


def rating_rows(campaign: Campaign) -> Iterator[tuple[object, ...]]:
    """The whole log, every revision, oldest first, from a server-side cursor; columns as in RATING_COLUMNS."""
    columns = (
        "pk",
        "response__item__external_id",
        "response_id",
        "response__text",
        "presentation__unit__label",
        "rated_as__name",
        "rater__pseudonym",
        "criterion__name",
        "value",
        "position",
        "revision",
        "extra",
        "presentation__shown_at",
        "presentation__ended_at",
        "presentation__seconds_given",
        "sent_at",
        "presentation__source_row",
    )
    found = Rating.objects.filter(campaign=campaign).order_by("pk").values_list(*columns)
    for *before, shown, ended, given, sent, row in found.iterator(chunk_size=2000):
        seconds = round((ended - shown).total_seconds(), 3) if shown and ended else given
        yield (*before, seconds, sent, row)


def rater_rows(campaign: Campaign, *, after: int = 0, size: int | None = None) -> list[RaterRow]:
    """Raters in the order they first appeared, with what became of the units they were shown; checks are no units."""
    query = """
        SELECT p.rater_id, r.pseudonym,
               count(*) FILTER (WHERE p.outcome IN ('submitted', 'replaced', 'imported')),
               count(*) FILTER (WHERE p.outcome = 'late'),
               count(*) FILTER (WHERE p.outcome = 'returned'),
               count(*) FILTER (WHERE p.outcome = 'lapsed'),
               percentile_cont(0.5) WITHIN GROUP (ORDER BY
                   coalesce(p.seconds_given, extract(epoch FROM p.ended_at - p.shown_at)::float8))
                   FILTER (WHERE p.outcome IN ('submitted', 'late', 'imported')),
               min(p.shown_at), max(p.ended_at)
        FROM annotation_presentation p JOIN annotation_rater r ON r.id = p.rater_id
        WHERE p.campaign_id = %s AND p.purpose = 'work' AND p.rater_id > %s
        GROUP BY p.rater_id, r.pseudonym ORDER BY p.rater_id LIMIT %s
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [campaign.pk, after, size])
        return [RaterRow(*row) for row in cursor.fetchall()]
