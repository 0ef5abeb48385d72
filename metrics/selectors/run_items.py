"""Over which of a data set's items a run's scores are, so that no page compares scores of different items unawares."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Func, JSONField, QuerySet
from django.db.models.fields.json import KeyTransform

from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.subsets import Subset


@dataclass(frozen=True)
class ItemSet:
    """The items that a run scored, of all that it looked at.

    ``chosen_by`` is what left the others out, empty if none is. Sets of two releases, or of two subsets of one, are
    taken to differ even if they have as many items.
    """

    scored: int = 0
    total: int = 0
    chosen_by: str = ""

    @property
    def is_whole(self) -> bool:
        return 0 < self.scored == self.total

    @property
    def label(self) -> str:
        """Return the number of items, as the head of a column has it.

        Examples
        --------
        >>> ItemSet(40, 40).label, ItemSet(11, 40, "Chat v1").label, ItemSet(chosen_by="run 7").label
        ('all 40 items', '11 of 40 items', 'items unknown')
        """
        if not self.total:
            return "items unknown"
        return f"all {self.total:,} items" if self.is_whole else f"{self.scored:,} of {self.total:,} items"

    @property
    def words(self) -> str:
        """Return the items with what chose them.

        Examples
        --------
        >>> ItemSet(40, 40).words, ItemSet(11, 40, "Chat v1").words
        ('all 40 items', '11 of 40 items (Chat v1)')
        """
        return self.label if self.is_whole or not self.chosen_by else f"{self.label} ({self.chosen_by})"


def with_item_counts(runs: QuerySet[ScoreRun]) -> QuerySet[ScoreRun]:
    """Return the runs with the numbers of their items that `item_set` reads; their reports need not be loaded."""
    left_out = Func(
        "report", template="jsonb_path_query_array(%(expressions)s, '$.dropped[*].count')", output_field=JSONField()
    )
    return runs.annotate(n_scored=KeyTransform("items_scored", "report"), n_left_out=left_out)


def item_set(run: ScoreRun) -> ItemSet:
    """Return the items of a finished run that has the counts of `with_item_counts`."""
    return _item_set(run, run.n_scored or 0, run.n_left_out or ())  # type: ignore[attr-defined] # annotated


def item_set_of_report(run: ScoreRun) -> ItemSet:
    """Return the items of a finished run, from its report."""
    return _item_set(run, run.report.get("items_scored", 0), [each["count"] for each in run.report.get("dropped", ())])


def _item_set(run: ScoreRun, scored: int, left_out: Iterable[int]) -> ItemSet:
    total = scored + sum(left_out)
    if 0 < scored == total:
        return ItemSet(scored, total)
    if run.metric == External.name:
        return ItemSet(scored, total, f"run {run.number}")  # which items are in a file, its numbers do not say
    return ItemSet(scored, total, references_name(run))


def references_name(run: ScoreRun) -> str:
    """Return the release, or that the references are the data set's own, with the subset if it is not all of them."""
    subset = Subset.from_mapping(run.subset)
    if run.release_id:
        return str(run.release) if subset.kind == "all" else f"{run.release}, {subset.label}"
    return "own references" if subset.kind == "all" else f"own references, {subset.label}"
