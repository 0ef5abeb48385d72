"""Reads of campaigns: their progress, their designs, their log of ratings, their raters."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import Avg, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Coalesce, Length

from annotation.campaigns.design.writing import Writing
from annotation.campaigns.fields.kinds import Field, Text
from annotation.campaigns.fields.table import CAMPAIGN, WORDS
from annotation.campaigns.scales import with_standard
from annotation.core import sql
from annotation.core.counting import count_of
from annotation.core.dialogues import rated_turns
from annotation.core.numbers import counted
from annotation.core.pages import newest_page
from annotation.datasets.selectors.datasets import items_matching
from annotation.models import (
    Campaign,
    CampaignState,
    Dataset,
    Item,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    Purpose,
    Rating,
    Response,
    ResponseList,
    ResponseSource,
    SourceKind,
    Target,
    Unit,
    UnitResponse,
)
from annotation.weighting.exclusion.measured import MedianSecondsBelow

CHARACTERS_PER_SECOND = 20.0  # some 240 English words a minute, read with understanding
CHARACTERS_TYPED_PER_SECOND = 3.0  # some 40 English words a minute
SECONDS_PER_ANSWER = 3.0
SECONDS_PER_SCREEN = 2.0
OF_ESTIMATE = 5  # times as fast as estimated is too fast; a rule asks for no less than its usual seconds

# Columns of the log of ratings, by the columns of the database that they show; those of the times follow.
LOGGED = {
    "rating": "pk",
    "item": "response__item__external_id",
    "response": "response_id",
    "text": "response__text",
    "system": "system",
    "systems": "presentation__unit__label",
    "rated_as": "rated_as__name",
    "rater": "rater__pseudonym",
    "criterion": "criterion__name",
    "turn": "turn",
    "value": "value",
    "position": "position",
    "revision": "revision",
    "extra": "extra",
}
RATING_COLUMNS = (*LOGGED, "seconds", "sent_at", "source_row", "rater_excluded")


class WorkRow(NamedTuple):
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
    """Return campaigns with ``n_units``, ``n_done`` (filled slots), ``n_raters`` and ``n_wanted`` (slots).

    ``n_items`` and ``n_responses`` count those of the data set: of an item, several responses may be units.
    ``n_left_out`` counts the filled slots of excluded raters, ``n_excluded`` these raters.
    """
    judged = Presentation.objects.filter(
        purpose=Purpose.WORK, outcome__in=[PresentationOutcome.SUBMITTED, PresentationOutcome.IMPORTED]
    )
    excluded = Participation.objects.filter(
        campaign=OuterRef("campaign"), rater=OuterRef("rater"), excluded_at__isnull=False
    )
    units = Unit.objects.filter(campaign=OuterRef("pk")).order_by().values("campaign")
    wanted = units.annotate(n=Sum("ratings_wanted")).values("n")
    return (
        plain_campaigns(project)
        .annotate(
            n_units=count_of(Unit.objects.all(), "campaign"),
            n_items=count_of(Unit.objects.all(), "campaign", "item", distinct=True),
            n_responses=count_of(UnitResponse.objects.all(), "unit__campaign", "response", distinct=True),
            n_done=count_of(judged, "campaign"),
            n_left_out=count_of(judged.filter(Exists(excluded)), "campaign"),
            n_raters=count_of(judged, "campaign", "rater", distinct=True),
            n_excluded=count_of(judged.filter(Exists(excluded)), "campaign", "rater", distinct=True),
        )
        .annotate(n_wanted=Coalesce(Subquery(wanted), 0, output_field=IntegerField()))
    )


# Fields whose page shows the words of another table.
WORDS_OF: dict[str, Callable[[Campaign], list[str]]] = {
    "systems": lambda campaign: [system.name for system in campaign.systems.all()],
    "reference_kinds": lambda campaign: [SourceKind(kind).label for kind in campaign.reference_kinds],
}


def design_facts(campaign: Campaign, step: str) -> dict[str, list[tuple[str, str]]]:
    """Return label and text of the frozen fields that a step of the design sets, by heading; not what raters read."""
    headings: dict[str, list[tuple[str, str]]] = {}
    for name, field in CAMPAIGN.items():
        if field.step == step and field.frozen and not is_read(field) and (not field.related or name in WORDS_OF):
            value = WORDS_OF[name](campaign) if name in WORDS_OF else getattr(campaign, name)
            if value or not field.selects:  # an empty choice selects everything
                headings.setdefault(field.section, []).extend(field.facts(value))
    return headings


def design_texts(campaign: Campaign) -> list[tuple[Text, str]]:
    """Return what raters read: each field with its text."""
    return [(field, getattr(campaign, name)) for name, field in CAMPAIGN.items() if is_read(field)]


def is_read(field: Field) -> TypeGuard[Text]:
    """Whether raters read the value as a text of several lines."""
    return isinstance(field, Text) and field.step == WORDS and field.lines > 1


class FoundItem(NamedTuple):
    item: Item
    responses: list[Response]
    n_more: int


def items_found(dataset: Dataset, search: str, *, size: int, responses: int) -> list[FoundItem]:
    """Return the first items whose id, conversation or a response contains the text.

    Each has so many of its responses, those that contain the text first.
    """
    said = Response.objects.filter(item=OuterRef("pk"), text__icontains=search)
    found = Item.objects.filter(
        Q(pk__in=items_matching(dataset, search).values("pk")) | Q(Exists(said)), dataset=dataset
    )
    rows = []
    for item in found.order_by("position").prefetch_related("responses")[:size]:
        ranked = sorted(item.responses.all(), key=lambda response: search.lower() not in response.text.lower())
        rows.append(FoundItem(item, ranked[:responses], len(ranked[responses:])))
    return rows


def screen_of(dataset: Dataset, responses: Iterable[int]) -> dict[str, Any] | None:
    """Return the prepared screen that shows these responses of one item, as yet without answers; None without any."""
    rows = list(Response.objects.filter(item__dataset=dataset, pk__in=responses).select_related("item").order_by("pk"))
    if not rows:
        return None
    texts = [{"text": row.text} for row in rows if row.item_id == rows[0].item_id]
    return {"item": rows[0].item.external_id, "texts": texts}


def campaigns_by_state(project: Project) -> dict[str, int]:
    """Return how many campaigns are in each state, in the order of a campaign's life."""
    rows = Campaign.objects.filter(project=project).order_by().values_list("state").annotate(n=Count("pk"))
    return dict.fromkeys(CampaignState.values, 0) | dict(rows)


def asked_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the items that a campaign is about, in their order, whatever responses they have."""
    items = Item.objects.filter(dataset=campaign.dataset)
    if campaign.split:
        items = items.filter(split=campaign.split)
    if campaign.target == Target.LISTED:  # the first items of the list, not of the data set
        items = items.filter(pk__in=_listed(campaign).values("response__item"))
    return items.order_by("position")[: campaign.item_limit]


def _listed(campaign: Campaign) -> QuerySet[Any]:
    return ResponseList.responses.through.objects.filter(responselist=campaign.response_list_id)


def rated_sources(campaign: Campaign) -> QuerySet[ResponseSource]:
    """Return the sources whose responses a campaign rates, in the order of the items."""
    sources = ResponseSource.objects.filter(item__dataset=campaign.dataset)
    if campaign.target == Target.LISTED:
        sources = sources.filter(response__in=_listed(campaign).values("response"))
    if campaign.split:
        sources = sources.filter(item__split=campaign.split)
    if campaign.item_limit is not None:
        sources = sources.filter(item__in=asked_items(campaign).values("pk"))
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


def shown_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the items that raters see: those with a response to rate, and all where they write references."""
    if Writing.lenient(campaign.writing).hides_text:
        return Item.objects.filter(pk__in=asked_items(campaign).values("pk")).order_by("position")
    return Item.objects.filter(pk__in=rated_sources(campaign).order_by().values("item")).order_by("position")


def standards_of(campaign: Campaign) -> dict[int, int]:
    """Return the response that the values of each item are relative to; empty if no criterion has a standard text."""
    criterion = with_standard(campaign.criteria.all())
    if criterion is None:
        return {}
    of_kind = Q(kind=criterion.standard_source) & ~Q(kind=SourceKind.SYSTEM)
    of_system = Q(system__name=criterion.standard_source)
    sources = ResponseSource.objects.filter(of_kind | of_system, item__dataset=campaign.dataset)
    # The last entry of an item stays: the first ranked source.
    return dict(sources.order_by("-rank", "-pk").values_list("item_id", "response_id"))


def ratings_page(campaign: Campaign, *, before: int | None, size: int) -> tuple[list[Rating], int | None]:
    """Return the latest ratings, or those before a rating id, and the id to continue from if there are more."""
    ratings = with_system(Rating.objects.filter(campaign=campaign)).order_by("-id")
    related = ("response__item", "rater", "criterion", "rated_as", "presentation")
    return newest_page(ratings.select_related(*related), before=before, size=size)


def rating_rows(campaign: Campaign) -> Iterator[tuple[object, ...]]:
    """Yield every revision of every rating, oldest first, from a server-side cursor; columns as in RATING_COLUMNS."""
    presentation = ("shown_at", "ended_at", "seconds_given", "source_row")
    columns = [*LOGGED.values(), "sent_at", *(f"presentation__{name}" for name in presentation)]
    rows = with_system(Rating.objects.filter(campaign=campaign))
    ratings = rows.order_by("pk").values_list(*columns, "rater_id")
    excluded = set(campaign.participations.filter(excluded_at__isnull=False).values_list("rater_id", flat=True))
    for *logged, sent, shown, ended, given, row, rater in ratings.iterator(chunk_size=2000):
        seconds = round((ended - shown).total_seconds(), 3) if shown and ended else given
        yield (*logged, seconds, sent, row, rater in excluded)


def with_system(ratings: QuerySet[Rating]) -> QuerySet[Any]:
    """Add ``system``: under whose name the response was rated, or everything that gave it."""
    names = StringAgg(Coalesce("system__name", "kind"), ", ", distinct=True)
    sources = ResponseSource.objects.filter(response=OuterRef("response")).order_by().values("response")
    given_by = Subquery(sources.annotate(names=names).values("names"))
    return ratings.annotate(system=Coalesce("rated_as__name", given_by, output_field=TextField()))


def rater_rows(campaign: Campaign) -> list[WorkRow]:
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
        WHERE p.campaign_id = %s AND p.purpose = 'work'
        GROUP BY p.rater_id, r.pseudonym ORDER BY p.rater_id
    """
    return [WorkRow(*row) for row in sql.rows(query, [campaign.pk])]


# --- What is left -----------------------------------------------------------------------------------------------------

MOST_UNFILLED = 20_000  # slots; with more left, who could fill them is not counted

# A rater here may fill a slot of a unit that the rater has not answered, unless excluded, failed or at the limit. A
# unit that the rater skipped comes back only once the rater asks for the skipped ones.
_UNFILLED = """
    WITH answers AS (
        SELECT rater_id, count(*) AS n FROM annotation_presentation
        WHERE campaign_id = %(campaign)s AND purpose NOT IN ('training', 'test')
          AND outcome IN ('submitted', 'late', 'replaced')
        GROUP BY rater_id
    ), raters AS (
        SELECT p.rater_id FROM annotation_participation p LEFT JOIN answers a ON a.rater_id = p.rater_id
        WHERE p.campaign_id = %(campaign)s AND p.excluded_at IS NULL AND p.stage <> 'failed'
          AND (%(limit)s::int IS NULL OR coalesce(a.n, 0) < %(limit)s)
    ), units AS (
        SELECT id, ratings_wanted - done_slots AS open FROM annotation_unit
        WHERE campaign_id = %(campaign)s AND NOT stopped AND done_slots < ratings_wanted
    ), met AS (
        SELECT p.unit_id, p.rater_id, bool_or(p.outcome IN ('submitted', 'late', 'replaced')) AS answered,
               bool_or(p.outcome = 'returned') AS skipped
        FROM annotation_presentation p JOIN raters USING (rater_id) JOIN units ON units.id = p.unit_id
        WHERE p.campaign_id = %(campaign)s AND p.purpose = 'work'
        GROUP BY p.unit_id, p.rater_id
    ), counted AS (
        SELECT units.open, (SELECT count(*) FROM raters) - count(met.rater_id) FILTER (WHERE met.answered) AS able,
               count(met.rater_id) FILTER (WHERE met.skipped AND NOT met.answered) AS skipped
        FROM units LEFT JOIN met ON met.unit_id = units.id
        GROUP BY units.id, units.open
    )
    SELECT (SELECT count(*) FROM annotation_participation WHERE campaign_id = %(campaign)s),
           coalesce(sum(open), 0), coalesce(sum(greatest(open - able, 0)), 0),
           coalesce(sum(greatest(least(open, able) - (able - skipped), 0)), 0)
    FROM counted
"""


@dataclass(frozen=True)
class Unfilled:
    """Slots that are not filled; ``new``: that none of the ``raters`` who joined may fill; ``skipped``: that only
    raters who skipped them may fill."""

    raters: int
    slots: int
    new: int
    skipped: int

    @property
    def can_end(self) -> bool:
        """Return whether the raters who joined can fill all, and not only what they skipped."""
        return not self.raters or (not self.new and self.skipped < max(self.slots, 1))

    @property
    def sentences(self) -> list[str]:
        """Say what the raters who joined will not fill by going on; nothing before any rater joined."""
        sentences = []
        if self.raters and self.new:
            only = "can be filled only by a new rater: every rater here has rated the item, or may not rate more"
            sentences.append(f"{counted(self.new, 'slot')} {only}.")
        if self.raters and self.skipped:
            was, it = ("was", "it") if self.skipped == 1 else ("were", "them")
            skipped = f"{was} skipped by every rater here who may still fill {it}"
            sentences.append(f"{counted(self.skipped, 'slot')} {skipped}; their last page offers skipped items again.")
        return sentences


def work_left(campaign: Campaign) -> tuple[int, int]:
    """Count the units that are still to be rated and the slots that are still to be filled; none of a stopped unit."""
    wanting = Unit.objects.filter(campaign=campaign, stopped=False, done_slots__lt=F("ratings_wanted"))
    counts = wanting.aggregate(units=Count("pk"), slots=Coalesce(Sum(F("ratings_wanted") - F("done_slots")), 0))
    return counts["units"], counts["slots"]


def slots_unfilled(campaign: Campaign) -> int:
    """Count the slots that are still to be filled, without those of stopped units."""
    return work_left(campaign)[1]


def unfilled(campaign: Campaign, n_slots: int) -> Unfilled | None:
    """Return who could fill the ``n_slots`` that are left; None if these are very many."""
    if n_slots > MOST_UNFILLED:
        return None
    parameters = {
        "campaign": campaign.pk,
        "limit": campaign.max_units_per_rater,
    }
    return Unfilled(*map(int, sql.row(_UNFILLED, parameters)))


def seconds_per_screen(campaign: Campaign) -> float:
    """Estimate the time to read everything on a screen once and to answer each question."""
    writing, items = Writing.lenient(campaign.writing), shown_items(campaign).order_by()
    sources = rated_sources(campaign).order_by()
    if writing.hides_text:
        sources = sources.none()
    text = sources.aggregate(n=Avg(Length("response__text")))["n"] or 0.0
    context = items.aggregate(n=Avg(Length("message")))["n"] or 0.0
    first = list(items.values_list("context", "meaning_representation")[:200])
    around = sum(sum(map(len, turns)) + len(meaning) for turns, meaning in first) / max(len(first), 1)
    shown = campaign.presentation_kind.shown(sources.values("response").distinct().count(), items.count())
    criteria = list(campaign.criteria.all())
    answers = sum(criterion.scale.answers(shown) for criterion in criteria if not criterion.by_turn)
    if by_turn := sum(criterion.by_turn for criterion in criteria):
        turns = [len(rated_turns(turns)) for turns in sources.values_list("response__turns", flat=True)[:200]]
        answers += by_turn * sum(turns) / max(len(turns), 1)
    typed = (writing.least + writing.most) / 2 / CHARACTERS_TYPED_PER_SECOND if writing.asks else 0.0
    reading = (context + around + shown * text) / CHARACTERS_PER_SECOND
    return SECONDS_PER_SCREEN + reading + SECONDS_PER_ANSWER * answers + typed


def too_fast(campaign: Campaign) -> int:
    """Return the seconds below which an answer is too fast: an item with several texts takes longer to read."""
    return max(int(MedianSecondsBelow.suggested["seconds"]), int(seconds_per_screen(campaign) // OF_ESTIMATE))


def too_fast_because(campaign: Campaign) -> str:
    """Return where the seconds of ``too_fast`` come from."""
    least, estimate = int(MedianSecondsBelow.suggested["seconds"]), seconds_per_screen(campaign)
    if estimate // OF_ESTIMATE > least:
        return f"a fifth of the {estimate:.0f} s that reading and answering an item should take"
    return f"the least that the rule asks for; reading and answering an item should take {estimate:.0f} s"
