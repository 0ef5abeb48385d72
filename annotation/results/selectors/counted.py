"""The ratings that count for systems, and what was left out."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.numbers import counted
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, DecisionAction, Item, RaterAnswer, RaterDecision, Rating
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.outputs import Outputs, outputs_of_datasets
from annotation.rating.selectors.questions import questionnaire_of
from annotation.rating.selectors.ratings import RatingColumns, current_ratings, rating_columns
from annotation.results.attributes import ATTRIBUTES, MOST_VALUES, RATER, rater_answers

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
WHY = ("reason", "rules", "rules__before_launch")


@dataclass(frozen=True)
class Exclusion:
    """Why raters are excluded: a rule, and whether it was registered before launch, or a decision by hand."""

    raters: int
    reason: str
    by_rule: bool
    before_launch: bool

    @property
    def words(self) -> str:
        when = "before" if self.before_launch else "after"
        by = f"by a rule registered {when} launch" if self.by_rule else "by hand"
        return f"{by}: “{self.reason.rstrip('.')}”" if self.reason else by


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
    exclusions: list[Exclusion] = field(default_factory=list)

    @property
    def parts(self) -> list[str]:
        """Return what was left out in words."""
        of_ratings = "rating" if self.excluded_ratings == 1 else "ratings"
        of_raters = f"{of_ratings} of {counted(self.excluded_raters, 'excluded rater')}{self._why}"
        words = (
            (self.excluded_ratings, of_raters),
            (self.late, "sent late"),
            (self.corrected, "corrected since"),
            (self.cannot_judge, "where the rater could not judge"),
            (self.no_system, "of texts that no system gave"),
            (self.filtered, "of items that the filter leaves out"),
            (self.filtered_raters, "by raters whom the filter leaves out"),
        )
        return [f"{n:,} {what}" for n, what in words if n]

    @property
    def _why(self) -> str:
        """Return why raters are excluded, in brackets."""
        if not self.exclusions:
            return ""
        if len(self.exclusions) == 1:
            return f" ({self.exclusions[0].words})"
        return f" ({'; '.join(f'{each.raters:,} {each.words}' for each in self.exclusions)})"


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
    included = every.select(~np.isin(every.rater_id, excluded))
    of_outputs = np.isin(included.response_id, outputs.response)
    admitted = np.isin(included.response_id, kept_outputs.response)
    by_admitted = np.ones(len(included.rating_id), dtype=bool)
    if answers := rater_answers(filters or {}):
        by_admitted = np.isin(included.rater_id, list(raters_who_answered(campaigns, answers)))
    mine = Rating.objects.filter(campaign__in=[campaign.pk for campaign in campaigns])
    unjudged = current_ratings(campaigns).filter(value__isnull=True).exclude(rater__in=excluded)
    excluded_here = set(excluded) & set(np.unique(every.rater_id).tolist())
    left_out = LeftOut(
        excluded_raters=len(excluded_here),
        excluded_ratings=len(every.rating_id) - len(included.rating_id),
        late=mine.filter(extra=True).count(),
        corrected=mine.filter(extra=False).count() - current_ratings(campaigns).count(),
        cannot_judge=unjudged.count(),
        no_system=int((~of_outputs).sum()),
        filtered=int((of_outputs & ~admitted).sum()),
        filtered_raters=int((admitted & ~by_admitted).sum()),
        exclusions=_exclusions(campaigns, excluded_here),
    )
    rated = included.select(admitted & by_admitted)
    known = not by_stand_ins(np.unique(rated.rater_id)).any()
    return CountedRatings(rated, kept_outputs, names, left_out, known)


def _exclusions(campaigns: Sequence[Campaign], raters: set[int]) -> list[Exclusion]:
    """Return why raters are excluded, by the last decision about each, the reason of most raters first."""
    rows = RaterDecision.objects.filter(
        campaign__in=[campaign.pk for campaign in campaigns], rater__in=raters, action=DecisionAction.EXCLUDE
    )
    latest = {rater: why for rater, *why in rows.order_by("pk").values_list("rater", *WHY)}
    times = Counter((reason, rules is not None, bool(before)) for reason, rules, before in latest.values())
    return [Exclusion(n, *why) for why, n in times.most_common()]


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
