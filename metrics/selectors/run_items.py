"""Over which of a data set's items a run's scores are, so that no page compares scores of different items unawares."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, Func, JSONField, OuterRef, QuerySet
from django.db.models.fields.json import KeyTransform

from annotation.core.caching import cached
from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.models import Item, Release, ReleaseWeight
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.subsets import Subset

POSITIVE = "positive weight"  # in the reason why an item is left out
MOST_NAMED = 2  # campaigns, before their number says enough
SECONDS = 24 * 3600  # a release never changes

OWN_REFERENCES = "own references"


@dataclass(frozen=True)
class ItemSet:
    """The items that a run scored, of all that it looked at.

    ``chosen_by`` is what left the others out, empty if none is. Sets of two releases, or of two subsets of one, are
    taken to differ even if they have as many items. ``name`` says which items they are, after their number;
    ``left_out`` why others are left out, and how many.
    """

    scored: int = 0
    total: int = 0
    chosen_by: str = ""
    name: str = field(default="", compare=False)
    left_out: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    @property
    def is_whole(self) -> bool:
        return 0 < self.scored == self.total

    @property
    def count(self) -> str:
        """Return the number of items.

        Examples
        --------
        >>> ItemSet(40, 40).count, ItemSet(11, 40, "Chat v1").count, ItemSet(chosen_by="run 7").count
        ('all 40 items', '11 of 40 items', 'items unknown')
        """
        if not self.total:
            return "items unknown"
        return f"all {self.total:,} items" if self.is_whole else f"{self.scored:,} of {self.total:,} items"

    @property
    def label(self) -> str:
        """Return which items they are, as the head of a column has it.

        Examples
        --------
        >>> ItemSet(40, 40).label, ItemSet(11, 40, "Chat v1", "rated in “Pilot”").label
        ('all 40 items', '11 items rated in “Pilot”')
        """
        return self.count if self.is_whole or not self.name else f"{counted(self.scored, 'item')} {self.name}"

    @property
    def words(self) -> str:
        """Return which items they are, as a sentence has it.

        Examples
        --------
        >>> ItemSet(40, 40).words, ItemSet(11, 40, "Chat v1", "rated in “Pilot”").words
        ('all 40 items', 'the 11 items rated in “Pilot”')
        >>> ItemSet(11, 40, "Chat v1").words
        '11 of 40 items (Chat v1)'
        """
        if self.is_whole or not self.chosen_by:
            return self.count
        return f"the {self.label}" if self.name else f"{self.count} ({self.chosen_by})"

    @property
    def about(self) -> str:
        """Return how many of all items they are, what chose them and why others are left out, in sentences.

        Examples
        --------
        >>> ItemSet(11, 40, "Chat v1", "rated in “Pilot”", (("no reference", 29),)).about
        '11 of 40 items, by Chat v1. Left out: 29 with no reference.'
        """
        if self.is_whole or not self.total:
            return f"{self.count[:1].upper()}{self.count[1:]}."
        text = f"{self.count}, by {self.chosen_by}." if self.chosen_by else f"{self.count}."
        why = [f"{n:,} with {each}" if each.startswith("no ") else f"{n:,}, {each}" for each, n in self.left_out]
        return f"{text} Left out: {'; '.join(why)}." if why else text


def with_item_counts(runs: QuerySet[ScoreRun]) -> QuerySet[ScoreRun]:
    """Return the runs with the numbers of their items that `item_set` reads; their reports need not be loaded."""

    def of_dropped(key: str) -> Func:
        path = f"jsonb_path_query_array(%(expressions)s, '$.dropped[*].{key}')"
        return Func("report", template=path, output_field=JSONField())

    scored = KeyTransform("items_scored", "report")
    return runs.annotate(n_scored=scored, n_left_out=of_dropped("count"), why_left_out=of_dropped("reason"))


def item_set(run: ScoreRun) -> ItemSet:
    """Return the items of a finished run that has the counts of `with_item_counts`."""
    row: Any = run  # annotated
    return _item_set(run, row.n_scored or 0, zip(row.why_left_out or (), row.n_left_out or (), strict=True))


def item_set_of_report(run: ScoreRun) -> ItemSet:
    """Return the items of a finished run, from its report."""
    left_out = [(each["reason"], each["count"]) for each in run.report.get("dropped", ())]
    return _item_set(run, run.report.get("items_scored", 0), left_out)


def _item_set(run: ScoreRun, scored: int, left_out: Iterable[tuple[str, int]]) -> ItemSet:
    why = tuple(left_out)
    total = scored + sum(n for _, n in why)
    if 0 < scored == total:
        return ItemSet(scored, total)
    if run.metric == External.name:  # which items are in a file, its numbers do not say
        return ItemSet(scored, total, f"run {run.number}", f"of the file of run {run.number}", why)
    is_positive = any(POSITIVE in reason for reason, _ in why)
    return ItemSet(scored, total, references_name(run), _items_name(run, is_positive=is_positive), why)


def _items_name(run: ScoreRun, *, is_positive: bool) -> str:
    """Return what the scored items have in common: the split, the campaigns that rated them, their references.

    ``is_positive``: items that were rated are left out, too, since no reference of theirs has a positive weight.
    """
    subset = Subset.from_mapping(run.subset)
    if run.release is None:
        return f"with {references_name(run)}"
    split, campaigns = _chosen_by_release(run.release)
    parts = [f"of split {split}"] if split else []
    if is_positive:
        parts.append("with a positive weight")
    else:
        parts.append(f"rated in {_named(campaigns)}" if campaigns else f"with weights in {run.release}")
    return " ".join(parts) if subset.kind == "all" else f"{' '.join(parts)}, {subset.label}"


def _named(campaigns: Sequence[str]) -> str:
    if len(campaigns) > MOST_NAMED:
        return f"{len(campaigns)} campaigns"
    return enumerated([f"“{name}”" for name in campaigns])


def _chosen_by_release(release: Release) -> tuple[str, list[str]]:
    """Return the split that all items of a release are in, if others have another; and the campaigns that it counts."""

    def read() -> tuple[str, list[str]]:
        campaigns = release.reference_set.campaigns.order_by("pk")
        splits = Item.objects.filter(dataset=release.reference_set.dataset_id).order_by().values("split").distinct()
        weighed = splits.filter(Exists(ReleaseWeight.objects.filter(release=release, response__item=OuterRef("pk"))))
        inside = list(weighed.values_list("split", flat=True)[:2])
        is_one = len(inside) == 1 and splits[:2].count() > 1
        return inside[0] if is_one else "", list(campaigns.values_list("name", flat=True))

    return cached(f"items-of-release-{release.pk}-{release.content_hash}", read, SECONDS)


def references_name(run: ScoreRun) -> str:
    """Return the release, or that the references are the data set's own, with the subset if it is not all of them."""
    subset = Subset.from_mapping(run.subset)
    if run.release_id:
        return str(run.release) if subset.kind == "all" else f"{run.release}, {subset.label}"
    return OWN_REFERENCES if subset.kind == "all" else f"{OWN_REFERENCES}, {subset.label}"
