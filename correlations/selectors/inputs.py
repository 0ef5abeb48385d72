"""Human ratings as arrays, for a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max

from annotation.core.normalisation import letters_of
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Rating, Release, ResponseSource
from annotation.rating.selectors.ratings import JudgementTable, campaign_criteria, judgements, rating_columns
from annotation.references.releases.selectors.releases import release_judgements
from correlations.results.study import Circularity, SameText
from correlations.stats.resampling import RaterRatings
from metrics.selectors.corpus import Corpus

FloatArray = npt.NDArray[np.float64]


def rating_marks(campaigns: Sequence[Campaign]) -> dict[str, Any]:
    """Return each campaign's number of ratings and last id, which identify the ratings of an append-only log."""
    rows = Rating.objects.filter(campaign__in=campaigns).values_list("campaign__name").order_by("campaign__name")
    return {name: {"count": n, "last": last} for name, n, last in rows.annotate(n=Count("pk"), last=Max("pk"))}


def fewest_shared_items(release: Release, campaigns: Sequence[Campaign], pairs: Sequence[tuple[str, str]]) -> int:
    """Return the smallest number of items that count for a pair: with ratings of both outputs and a positive weight."""
    rated = Rating.objects.filter(campaign__in=campaigns, value__isnull=False, extra=False).values("response_id")
    weighted = release.weights.filter(weight__gt=0).order_by().values("item_id")
    names = {name for pair in pairs for name in pair}
    outputs = ResponseSource.objects.filter(
        system__dataset=release.reference_set.dataset_id,
        system__name__in=names,
        response__in=rated,
        item__in=weighted,
    )
    items: dict[str, set[int]] = {name: set() for name in names}
    for name, item in outputs.order_by().values_list("system__name", "item_id").iterator():
        items[name].add(item)
    return min((len(items[a] & items[b]) for a, b in pairs), default=0)


@dataclass(frozen=True)
class HumanSide:
    """T systems, S items. A response that several systems gave is rated once and counts for each of them."""

    mean: FloatArray  # (T, S); NaN if the output has no rating
    raters: RaterRatings
    table: JudgementTable  # of the hypotheses alone
    raters_known: bool = True  # False if some judgements are medians or means of unknown raters


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
    total = np.bincount(cell, weights=table.value[judgement], minlength=corpus.hypothesis_ids.size)
    count = np.bincount(cell, minlength=corpus.hypothesis_ids.size)
    mean = np.full(corpus.hypothesis_ids.size, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    system, segment = np.unravel_index(cell, corpus.hypothesis_ids.shape)
    return HumanSide(
        mean.reshape(corpus.hypothesis_ids.shape),
        RaterRatings(table.rater_id[judgement], system, segment, table.value[judgement]),
        table,
        raters_known=not by_stand_ins(table.rater_id).any(),
    )


def circularity(corpus: Corpus, release: Release, human: HumanSide) -> Circularity:
    """Count texts and raters that are on both sides of the correlation."""
    references = [{letters_of(text) for text in texts} for texts in corpus.references]
    same_text = [
        SameText(system.name, sum(letters_of(text) in same for text, same in zip(texts, references, strict=True)))
        for system, texts in zip(corpus.systems, corpus.hypotheses, strict=True)
    ]
    behind = release_judgements(release)
    weighing = np.isin(behind.response_id, corpus.reference_ids)
    item_of = dict(zip(corpus.reference_ids.tolist(), corpus.reference_item.tolist(), strict=True))
    weighed = {
        (rater, item_of[response])
        for rater, response in zip(
            behind.rater_id[weighing].tolist(), behind.response_id[weighing].tolist(), strict=True
        )
    }
    judged = set(zip(human.raters.rater.tolist(), human.raters.segment.tolist(), strict=True))
    raters, weighers = {rater for rater, _ in judged}, {rater for rater, _ in weighed}
    return Circularity(
        same_text=tuple(entry for entry in same_text if entry.items),
        same_text_items=sum(entry.items for entry in same_text),
        raters=len(raters),
        reference_raters=len(weighers),
        reference_raters_known=not release.is_imported,  # an imported release has no judgements here
        raters_on_both_sides=len(raters & weighers),
        rater_items=len(judged),
        rater_items_on_both_sides=len(judged & weighed),
    )
