"""Reads of campaigns: their progress, their designs, their log of ratings, their raters."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.campaigns.fields.table import CAMPAIGN
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
    """Return campaigns without their counts, which take a while for a large campaign."""
    return Campaign.objects.filter(project=project).select_related("dataset")


def campaigns_of(project: Project) -> QuerySet[Campaign]:
    """Return campaigns with ``n_units``, ``n_done`` (judgements that count), ``n_raters`` and ``n_wanted`` (slots)."""
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

    def number(query: QuerySet[Any, Any], **total: Count | Sum) -> Coalesce:
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


def design_settings(campaign: Campaign, step: str) -> dict[str, list[tuple[str, str]]]:
    """Return label and value of the fields that a step of the design sets, by heading; texts of several lines apart."""
    headings: dict[str, list[tuple[str, str]]] = {}
    for name, field in CAMPAIGN.items():
        if field.step == step and field.frozen and not field.related and not field.confidential:
            value = field.shown(getattr(campaign, name))
            if value is not None:
                headings.setdefault(field.section, []).append((field.label, value))
    return headings


def campaigns_by_state(project: Project) -> dict[str, int]:
    """Return how many campaigns are in each state, in the order of a campaign's life."""
    rows = Campaign.objects.filter(project=project).order_by().values_list("state").annotate(n=Count("pk"))
    counts = dict(rows)
    return {state: counts.get(state, 0) for state in CampaignState.values}


def rated_sources(campaign: Campaign) -> QuerySet[ResponseSource]:
    """Return the sources whose responses a campaign rates, in the order of the items."""
    sources = ResponseSource.objects.filter(item__dataset=campaign.dataset)
    listed = ResponseList.responses.through.objects.filter(responselist=campaign.response_list_id)
    if campaign.target == Target.LISTED:
        sources = sources.filter(response__in=listed.values("response"))
    if campaign.split:
        sources = sources.filter(item__split=campaign.split)
    if campaign.item_limit is not None:
        items = Item.objects.filter(dataset=campaign.dataset)
        if campaign.split:
            items = items.filter(split=campaign.split)
        if campaign.target == Target.LISTED:  # the first items of the list, not of the data set
            items = items.filter(pk__in=listed.values("response__item"))
        sources = sources.filter(item__in=items.order_by("position")[: campaign.item_limit].values("pk"))
    if campaign.target == Target.REFERENCES:
        sources = sources.exclude(kind=SourceKind.SYSTEM)
        if campaign.reference_kinds:
            sources = sources.filter(kind__in=campaign.reference_kinds)
    elif campaign.target == Target.OUTPUTS:
        sources = sources.filter(kind=SourceKind.SYSTEM)
    elif campaign.target == Target.CHOSEN:
        sources = sources.filter(system__in=campaign.systems.values("pk"))
    if campaign.pairs:
        sources = sources.filter(system__name__in={name for pair in campaign.pairs for name in pair})
    return sources.order_by("item__position", "response_id", "id")


def ratings_page(campaign: Campaign, *, before: int | None, size: int) -> tuple[list[Rating], int | None]:
    """Return the latest ratings, or those before a rating id, and the id to continue from if there are more."""
    ratings = Rating.objects.filter(campaign=campaign).order_by("-id")
    related = ("response__item", "rater", "criterion", "rated_as", "presentation__unit")
    return newest_page(ratings.select_related(*related), before=before, size=size)


def rating_rows(campaign: Campaign) -> Iterator[tuple[object, ...]]:
    """Yield every revision of every rating, oldest first, from a server-side cursor; columns as in RATING_COLUMNS."""
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
    ratings = Rating.objects.filter(campaign=campaign).order_by("pk").values_list(*columns)
    for *before, shown, ended, given, sent, row in ratings.iterator(chunk_size=2000):
        seconds = round((ended - shown).total_seconds(), 3) if shown and ended else given
        yield (*before, seconds, sent, row)


def rater_rows(campaign: Campaign, *, after: int = 0, size: int | None = None) -> list[RaterRow]:
    """Return raters in the order of their ids with the outcomes of the units they were shown, without checks."""
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
