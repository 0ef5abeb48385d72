"""Human ratings as arrays, for a study."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count

from annotation.core.normalisation import letters_of
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Criterion, Rating, Release, ResponseSource
from annotation.rating.selectors.ratings import (
    JudgementTable,
    RatingLog,
    campaign_criteria,
    judgements,
    rating_columns,
)
from annotation.references.releases.selectors.releases import release_judgements
from correlations.results.study import Circularity, SameText
from correlations.stats.resampling import RaterRatings
from metrics.selectors.corpus import Corpus

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def rating_marks(logs: Sequence[tuple[Campaign, RatingLog]]) -> dict[str, Any]:
    """Return the number of each campaign's ratings and their hash, by the campaign's name."""
    return {campaign.name: {"count": log.n, "sha256": log.digest} for campaign, log in logs if log.n}


def rated_items(
    dataset_id: int, systems: Sequence[str], criteria: Sequence[Criterion], without_raters: Sequence[int]
) -> dict[str, set[int]]:
    """Return the items on which each system's output has a rating on every criterion of a campaign."""
    needed = Counter(criterion.campaign_id for criterion in criteria)
    ratings = Rating.objects.filter(criterion__in=criteria, value__isnull=False, extra=False)
    rated = ratings.exclude(rater__in=without_raters).order_by().values("campaign_id", "response_id")
    complete = [
        response
        for campaign, response, n in rated.annotate(n=Count("criterion", distinct=True)).values_list(
            "campaign_id", "response_id", "n"
        )
        if n == needed[campaign]
    ]
    outputs = ResponseSource.objects.filter(
        system__dataset=dataset_id, system__name__in=systems, response__in=complete
    ).order_by()
    items: dict[str, set[int]] = {name: set() for name in systems}
    for name, item in outputs.values_list("system__name", "item_id").iterator():
        items[name].add(item)
    return items


def referenced_items(release: Release, *, positive: bool) -> set[int]:
    """Return the items with a reference in the release, or with one of positive weight."""
    weights = release.weights.filter(weight__gt=0) if positive else release.weights.all()
    return set(weights.order_by().values_list("item_id", flat=True))


@dataclass(frozen=True)
class HumanSide:
    """T systems, S items. A response that several systems gave is rated once and counts for each of them."""

    mean: FloatArray  # (T, S); NaN if the output has no rating
    raters: RaterRatings
    judgement: IntArray  # the judgement behind each of these ratings, as an index of the table
    table: JudgementTable  # of the hypotheses alone
    raters_known: bool = True  # False if some judgements are medians or means of unknown raters

    def counted(self, outputs: BoolArray) -> "HumanSide":
        """Return the ratings of these outputs (T, S) alone."""
        kept = outputs[self.raters.system, self.raters.segment]
        raters = RaterRatings(*(getattr(self.raters, name)[kept] for name in ("rater", "system", "segment", "value")))
        return replace(self, mean=np.where(outputs, self.mean, np.nan), raters=raters, judgement=self.judgement[kept])

    def mean_of(self, kept: BoolArray) -> FloatArray:
        """Return the mean (T, S) of some of these ratings, True in ``kept``; NaN if an output has none of them."""
        cell = np.ravel_multi_index((self.raters.system[kept], self.raters.segment[kept]), self.mean.shape)
        return _cell_means(cell, self.raters.value[kept], self.mean.shape)

    @property
    def n_judgements(self) -> int:
        return int(np.unique(self.judgement).size)

    @property
    def n_raters(self) -> int:
        return int(np.unique(self.raters.rater).size)


def human_side(
    corpus: Corpus,
    campaigns: Sequence[Campaign],
    criteria: Sequence[str],
    *,
    up_to: int,
    without_raters: Sequence[int] = (),
) -> HumanSide:
    """Return the mean rating of every output. A judgement is the mean of its criteria; some raters may be left out."""
    columns = rating_columns(campaigns, np.unique(corpus.hypothesis_ids).tolist(), up_to=up_to)
    columns = columns.select(~np.isin(columns.rater_id, without_raters))
    table = judgements(columns, campaign_criteria(campaigns, criteria))
    # Cells of one response: usually one, several where systems gave the same text.
    cells = np.argsort(corpus.hypothesis_ids, axis=None, kind="stable")
    sorted_ids = corpus.hypothesis_ids.ravel()[cells]
    first = np.searchsorted(sorted_ids, table.response_id, side="left")
    shared = np.searchsorted(sorted_ids, table.response_id, side="right") - first
    judgement = np.repeat(np.arange(table.response_id.size), shared)
    within = np.arange(judgement.size) - np.repeat(np.cumsum(shared) - shared, shared)
    cell = cells[first[judgement] + within]
    system, segment = np.unravel_index(cell, corpus.hypothesis_ids.shape)
    return HumanSide(
        _cell_means(cell, table.value[judgement], corpus.hypothesis_ids.shape),
        RaterRatings(table.rater_id[judgement], system, segment, table.value[judgement]),
        judgement,
        table,
        raters_known=not by_stand_ins(table.rater_id).any(),
    )


def _cell_means(cell: IntArray, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return the mean of the values of each cell of a table; NaN if it has none."""
    size = int(np.prod(shape))
    total, count = np.bincount(cell, weights=values, minlength=size), np.bincount(cell, minlength=size)
    mean = np.full(size, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean.reshape(shape)


def circularity(corpus: Corpus, release: Release | None, human: HumanSide, item_ids: IntArray) -> Circularity:
    """Count texts and raters that are on both sides of the correlation.

    ``corpus`` holds the references, and ``item_ids`` (S,) are those of the ratings' segments.
    """
    system, segment = np.nonzero(~np.isnan(human.mean))
    rated = set(zip(system.tolist(), item_ids[segment].tolist(), strict=True))
    references = [{letters_of(text) for text in texts} for texts in corpus.references]
    same_text = [
        SameText(
            system.name,
            sum(
                (t, item) in rated and letters_of(text) in same
                for item, text, same in zip(corpus.item_ids.tolist(), texts, references, strict=True)
            ),
        )
        for t, (system, texts) in enumerate(zip(corpus.systems, corpus.hypotheses, strict=True))
    ]
    weighed: set[tuple[int, int]] = set()
    if release is not None:
        behind = release_judgements(release)
        weighing = np.isin(behind.response_id, corpus.reference_ids)
        items = corpus.item_ids[corpus.reference_item]
        item_of = dict(zip(corpus.reference_ids.tolist(), items.tolist(), strict=True))
        judgements_behind = zip(behind.rater_id[weighing].tolist(), behind.response_id[weighing].tolist(), strict=True)
        weighed = {(rater, item_of[response]) for rater, response in judgements_behind}
    judged = set(zip(human.raters.rater.tolist(), item_ids[human.raters.segment].tolist(), strict=True))
    raters, weighers = {rater for rater, _ in judged}, {rater for rater, _ in weighed}
    return Circularity(
        same_text=tuple(entry for entry in same_text if entry.items),
        same_text_items=sum(entry.items for entry in same_text),
        raters=len(raters),
        reference_raters=len(weighers),
        # An imported release has no judgements here.
        reference_raters_known=release is None or not release.is_imported,
        raters_on_both_sides=len(raters & weighers),
        rater_items=len(judged),
        rater_items_on_both_sides=len(judged & weighed),
    )
