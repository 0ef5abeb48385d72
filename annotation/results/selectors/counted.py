"""The ratings that count for systems, and what was left out."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Criterion, Item, RaterAnswer, Rating, ResponseSource, UnitResponse
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.questions import questionnaire_of
from annotation.rating.selectors.ratings import RatingColumns, current_ratings, rating_columns
from annotation.results.attributes import ATTRIBUTES, MOST_VALUES, RATER, rater_answers

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class Outputs(NamedTuple):
    """One entry per output of a system, ordered by response; a text of several systems is there once for each."""

    response: IntArray
    system: IntArray
    item: IntArray

    def credited(self, responses: IntArray) -> tuple[IntArray, IntArray]:
        """Return, for responses that may repeat, the row of each credit and the output that it goes to."""
        first = np.searchsorted(self.response, responses, side="left")
        n = np.searchsorted(self.response, responses, side="right") - first
        row = np.repeat(np.arange(responses.size), n)
        within = np.arange(row.size) - np.repeat(np.cumsum(n) - n, n)
        return row, first[row] + within


@dataclass(frozen=True)
class LeftOut:
    """Ratings that were made and do not count, and judgements that could not be made."""

    excluded_raters: int = 0
    excluded_ratings: int = 0
    late: int = 0
    corrected: int = 0
    cannot_judge: int = 0
    no_system: int = 0
    filtered: int = 0
    filtered_raters: int = 0

    @property
    def parts(self) -> list[str]:
        """Return what was left out in words."""
        words = (
            (self.excluded_ratings, f"of {self.excluded_raters:,} excluded raters"),
            (self.late, "sent late"),
            (self.corrected, "corrected since"),
            (self.cannot_judge, "where the rater could not judge"),
            (self.no_system, "of texts that no system gave"),
            (self.filtered, "of items that the filter leaves out"),
            (self.filtered_raters, "by raters whom the filter leaves out"),
        )
        return [f"{n:,} {what}" for n, what in words if n]


@dataclass(frozen=True, eq=False)
class CountedRatings:
    """Current ratings of outputs that count, without excluded raters and late ones.

    ``raters_known`` is False if only medians or means were imported.
    """

    ratings: RatingColumns
    outputs: Outputs
    names: dict[int, str]  # of systems
    left_out: LeftOut
    raters_known: bool

    def of(self, criterion_ids: Sequence[int]) -> RatingColumns:
        return self.ratings.select(np.isin(self.ratings.criterion_id, criterion_ids))


def outputs_of_datasets(dataset_ids: Collection[int]) -> tuple[Outputs, dict[int, str]]:
    """Return the outputs of the systems of data sets, and the systems' names."""
    rows = (
        ResponseSource.objects.filter(system__dataset__in=dataset_ids)
        .order_by("response_id", "system_id")
        .values_list("response_id", "system_id", "item_id", "system__name")
    )
    table = list(rows)
    columns = np.array([row[:3] for row in table], dtype=np.int64).reshape(-1, 3).T
    return Outputs(*columns), {row[1]: row[3] for row in table}


def counted_ratings(campaigns: Sequence[Campaign], filters: Mapping[str, Any] | None = None) -> CountedRatings:
    """Read the ratings of outputs, of items and by raters that the filters admit."""
    outputs, names = outputs_of_datasets({campaign.dataset_id for campaign in campaigns})
    of_items = {key: value for key, value in (filters or {}).items() if key in ATTRIBUTES}
    if of_items:
        kept = np.isin(outputs.item, admitted_items(campaigns, of_items))
        kept_outputs = Outputs(*(column[kept] for column in outputs))
    else:
        kept_outputs = outputs
    every = rating_columns(campaigns, timed=False)
    excluded = excluded_rater_ids(campaigns)
    counted = every.select(~np.isin(every.rater_id, excluded))
    of_outputs = np.isin(counted.response_id, outputs.response)
    admitted = np.isin(counted.response_id, kept_outputs.response)
    by_admitted = np.ones(len(counted.rating_id), dtype=bool)
    if answers := rater_answers(filters or {}):
        by_admitted = np.isin(counted.rater_id, list(raters_who_answered(campaigns, answers)))
    mine = Rating.objects.filter(campaign__in=[campaign.pk for campaign in campaigns])
    unjudged = current_ratings(campaigns).filter(value__isnull=True).exclude(rater__in=excluded)
    left_out = LeftOut(
        excluded_raters=len(set(excluded) & set(np.unique(every.rater_id).tolist())),
        excluded_ratings=len(every.rating_id) - len(counted.rating_id),
        late=mine.filter(extra=True).count(),
        corrected=mine.filter(extra=False).count() - current_ratings(campaigns).count(),
        cannot_judge=unjudged.count(),
        no_system=int((~of_outputs).sum()),
        filtered=int((of_outputs & ~admitted).sum()),
        filtered_raters=int((admitted & ~by_admitted).sum()),
    )
    rated = counted.select(admitted & by_admitted)
    known = not by_stand_ins(np.unique(rated.rater_id)).any()
    return CountedRatings(rated, kept_outputs, names, left_out, known)


def admitted_items(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> list[int]:
    """Return the items whose attributes have the values."""
    items = Item.objects.filter(dataset__in={campaign.dataset_id for campaign in campaigns})
    for key, value in filters.items():
        items = items.alias(**{f"of_{key}": ATTRIBUTES[key].value}).filter(**{f"of_{key}": value})
    return list(items.order_by().values_list("pk", flat=True))


def filter_choices(campaigns: Sequence[Campaign]) -> dict[str, list[Any]]:
    """Return the values of each attribute of the rated items, for attributes that tell items apart."""
    items = Item.objects.filter(units__campaign__in=[campaign.pk for campaign in campaigns]).order_by()
    choices = {}
    for key, attribute in ATTRIBUTES.items():
        values = list(items.values_list(attribute.value, flat=True).distinct()[: MOST_VALUES + 1])
        if 1 < len(values) <= MOST_VALUES:
            choices[key] = sorted(values)
    return choices


def raters_who_answered(campaigns: Sequence[Campaign], answers: Mapping[str, str]) -> set[int]:
    """Return the raters who gave each of these answers, by question, in one of the campaigns."""
    rows = RaterAnswer.objects.filter(participation__campaign__in=[campaign.pk for campaign in campaigns]).order_by()
    raters = [
        set(rows.filter(question=name, values__contains=[value]).values_list("participation__rater", flat=True))
        for name, value in answers.items()
    ]
    return set.intersection(*raters)


def rater_choices(campaigns: Sequence[Campaign]) -> dict[str, tuple[str, list[tuple[str, int]]]]:
    """Return label and answers of each question by which results can be filtered; answers with their raters' number."""
    choices: dict[str, tuple[str, list[tuple[str, int]]]] = {}
    asked = {question.name: question for campaign in campaigns for question in questionnaire_of(campaign).questions}
    rows = RaterAnswer.objects.filter(participation__campaign__in=[campaign.pk for campaign in campaigns]).order_by()
    given: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for name, values, rater in rows.values_list("question", "values", "participation__rater") if asked else ():
        for value in values:
            given[name][value].add(rater)
    for name, question in asked.items():
        if given[name] and len(given[name]) <= MOST_VALUES:
            counts = sorted((value, len(raters)) for value, raters in given[name].items())
            choices[f"{RATER}{name}"] = (question.label, counts)
    return choices


class Comparisons(NamedTuple):
    """Paired comparisons of systems; a comparison of texts counts for every pair of systems that gave them."""

    first: IntArray
    second: IntArray
    outcome: IntArray  # 1 the first is better, 0 a tie, -1 the second is better
    item: IntArray
    rater: IntArray  # -1 for a tie by construction
    weight: FloatArray
    identical: int  # pairs of outputs that are one text: tied without a rater


def comparisons(rated: CountedRatings, criteria: Sequence[Criterion], campaigns: Sequence[Campaign]) -> Comparisons:
    """Return comparisons from ratings of pairs, the first on screen first.

    Two systems that gave the same text for an item are tied there by construction: as often as the other pairs of the
    campaigns were compared, on average.
    """
    ratings = rated.of([criterion.pk for criterion in criteria])
    position = dict(Rating.objects.filter(pk__in=ratings.rating_id.tolist()).values_list("pk", "position"))
    place = np.array([position[pk] or 0 for pk in ratings.rating_id.tolist()], dtype=np.int64)
    order = np.lexsort((place, ratings.criterion_id, ratings.presentation_id))
    ratings = RatingColumns._make(column[order] for column in ratings)
    same = (ratings.presentation_id[1:] == ratings.presentation_id[:-1]) & (
        ratings.criterion_id[1:] == ratings.criterion_id[:-1]
    )
    left = np.flatnonzero(same)  # the second text stands right after the first
    at_first, first_output = rated.outputs.credited(ratings.response_id[left])
    at_second, second_output = rated.outputs.credited(ratings.response_id[left + 1])
    # Every system of the first text against every system of the second.
    starts, ends = np.searchsorted(at_second, at_first, "left"), np.searchsorted(at_second, at_first, "right")
    row = np.repeat(np.arange(at_first.size), ends - starts)
    within = np.arange(row.size) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    first, second = rated.outputs.system[first_output[row]], rated.outputs.system[second_output[starts[row] + within]]
    judged = left[at_first[row]]
    wanted = _wanted_pairs(campaigns, rated.names)
    kept = np.array([frozenset(pair) in wanted for pair in zip(first.tolist(), second.tolist(), strict=True)], bool)
    first, second, judged = first[kept], second[kept], judged[kept]
    item_of = rated.outputs.item[np.searchsorted(rated.outputs.response, ratings.response_id)]
    outcome = np.sign(ratings.value[judged]).astype(np.int64)
    ties = _identical(rated, wanted, campaigns)
    share = _times_compared(left.size, campaigns)
    n = len(ties)
    return Comparisons(
        np.concatenate([first, ties[:, 0]]),
        np.concatenate([second, ties[:, 1]]),
        np.concatenate([outcome, np.zeros(n, dtype=np.int64)]),
        np.concatenate([item_of[judged], ties[:, 2]]),
        np.concatenate([ratings.rater_id[judged], np.full(n, -1, dtype=np.int64)]),
        np.concatenate([np.ones(first.size), np.full(n, share)]),
        n,
    )


def _wanted_pairs(campaigns: Sequence[Campaign], names: Mapping[int, str]) -> set[frozenset[int]]:
    """Return the pairs of systems that the campaigns compare: those that they name, or all of their systems."""
    wanted: set[frozenset[int]] = set()
    for campaign in campaigns:
        systems = {system.name: system.pk for system in campaign.dataset.systems.all()}
        chosen = {system.pk for system in campaign.systems.all()} or set(systems.values())
        if campaign.pairs:
            wanted |= {frozenset((systems[a], systems[b])) for a, b in campaign.pairs if a in systems and b in systems}
        else:
            ids = sorted(chosen & set(names))
            wanted |= {frozenset((a, b)) for place, a in enumerate(ids) for b in ids[place + 1 :]}
    return wanted


def _identical(rated: CountedRatings, wanted: set[frozenset[int]], campaigns: Sequence[Campaign]) -> IntArray:
    """Return rows of (first, second, item) where two compared systems gave the same text."""
    items = {pk for campaign in campaigns for pk in _items_of(campaign)}
    by_response: dict[int, list[int]] = {}
    item_of: dict[int, int] = {}
    shared = rated.outputs.response[1:][rated.outputs.response[1:] == rated.outputs.response[:-1]]
    for index in np.flatnonzero(np.isin(rated.outputs.response, shared)).tolist():
        response = int(rated.outputs.response[index])
        by_response.setdefault(response, []).append(int(rated.outputs.system[index]))
        item_of[response] = int(rated.outputs.item[index])
    rows = [
        (a, b, item_of[response])
        for response, systems in by_response.items()
        if item_of[response] in items
        for place, a in enumerate(systems)
        for b in systems[place + 1 :]
        if frozenset((a, b)) in wanted
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _items_of(campaign: Campaign) -> QuerySet[Item, int]:
    """Return the items that a campaign asks about, also those whose texts are all the same and have no unit."""
    items = campaign.dataset.items.filter(split=campaign.split) if campaign.split else campaign.dataset.items.all()
    if campaign.item_limit:
        items = items.filter(units__campaign=campaign)
    return items.values_list("pk", flat=True)


def _times_compared(n: int, campaigns: Sequence[Campaign]) -> float:
    """Return how often a unit was compared, on average, and not 0."""
    units = UnitResponse.objects.filter(unit__campaign__in=campaigns, number=0).count()
    return max(n / units if units else 1.0, 1e-6)
