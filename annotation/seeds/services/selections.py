"""Select seeds by their ratings and put them into splits; delete a selection."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from django.db import transaction
from django.db.models import Max

from annotation.allocation.splits import assign_splits, split_sizes
from annotation.core import sql
from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.datasets.services.export import dataset_rehash
from annotation.models import Campaign, CampaignState, Dataset, Item, Rating, SeedMember, SeedSelection, User
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.rating.services.ratings import ratings_await
from annotation.seeds.criteria import CRITERIA, check_seed, criteria_values
from annotation.seeds.selectors import RatedSeeds, SeedRow, exactly, kept_at, rated_seeds, selection_uses, thresholds

LONGEST_SPLIT = 40
BINNING = "sha256-order/1"  # what annotation.allocation.splits.assign_splits does
MOST_BARS = 60
COUNTS = ("candidates", "unrated", "too_few", "rated_less", "kept", "kept_rated_less")  # of a preview, in the record


@dataclass(frozen=True)
class SelectionRules:
    """What a manager sets for a selection of seeds.

    A seed is kept if its mean rating is ``threshold`` or more and it meets the ``criteria``, which have the names of
    ``annotation.seeds.criteria.CRITERIA``. ``shares`` are those of the splits, and ``seed`` the random seed of both.
    """

    dataset: Dataset
    campaigns: Sequence[Campaign]
    threshold: float
    shares: Mapping[str, float]
    seed: int
    criteria: Mapping[str, int]

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Return the rules with these values, and with the default of each criterion that is not given."""
        fields = {name: values.pop(name) for name in ("dataset", "campaigns", "threshold", "shares")}
        return cls(**fields, seed=values.pop("seed", 0), criteria=criteria_values(values))

    @property
    def record(self) -> dict[str, Any]:
        """The rules in JSON, without data set and campaigns."""
        shares = {name: float(share) for name, share in self.shares.items()}
        return {"threshold": float(self.threshold), "shares": shares, "seed": self.seed, **self.criteria}

    def kept(self, rated: RatedSeeds) -> list[SeedRow]:
        return rated.kept(exactly(self.threshold), self.criteria)


@dataclass(frozen=True)
class SeedPreview:
    """What selecting would do now, and how many seeds other thresholds would keep."""

    rated: RatedSeeds
    low: float
    high: float
    candidates: int
    qualified: int
    unrated: int
    rated_less: int  # qualified, with fewer ratings than planned
    too_few: int  # rated, but short of a criterion besides the mean
    failing: dict[str, int]  # the same by criterion
    kept: int
    kept_rated_less: int
    sizes: dict[str, int]
    levels: list[tuple[Fraction, int]]
    distribution: list[tuple[Fraction, int]]


def seeds_preview(rules: SelectionRules) -> SeedPreview:
    """Return what ``seeds_select`` would do, and refuse what it refuses. Nothing is written."""
    return _preview(rated_seeds(rules.dataset, rules.campaigns), rules, _check(rules))


def _preview(rated: RatedSeeds, rules: SelectionRules, scale: tuple[float, float]) -> SeedPreview:
    criteria = rules.criteria
    qualified, kept = rated.qualified(criteria), rules.kept(rated)
    n_rated = len(rated.qualified({}))
    levels = sorted({*thresholds(*scale), exactly(rules.threshold)})
    return SeedPreview(
        rated=rated,
        low=scale[0],
        high=scale[1],
        candidates=len(rated.seeds),
        qualified=len(qualified),
        unrated=len(rated.seeds) - n_rated,
        rated_less=rated.rated_less(qualified),
        too_few=n_rated - len(qualified),
        failing={name: n_rated - len(rated.qualified({name: value})) for name, value in criteria.items()},
        kept=len(kept),
        kept_rated_less=rated.rated_less(kept),
        sizes=split_sizes(len(kept), rules.shares),
        levels=kept_at(rated, criteria, levels),
        distribution=rated.distribution(criteria),
    )


@transaction.atomic
def seeds_select(*, rules: SelectionRules, again: bool = False, by: User | None = None) -> SeedSelection:
    """Keep the items whose original response meets the rules, and put them into splits.

    A seed with fewer ratings than planned is judged by those it has; a seed without any is never kept. The split of an
    item follows from its external id and the random seed alone: see ``assign_splits``. Items that are not kept have no
    split.

    A data set has one selection. ``again`` replaces it, which is possible until something was mined or rated for it.
    """
    dataset, campaigns = rules.dataset, rules.campaigns
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # one selection at a time
    scale, earlier = seeds_check(rules=rules, again=again)
    if earlier is not None:
        _remove(earlier)
    ratings_await(campaigns=campaigns)
    last = Rating.objects.filter(campaign__in=campaigns).aggregate(last=Max("id"))["last"] or 0
    rated = rated_seeds(dataset, campaigns, up_to=last)
    preview = _preview(rated, rules, scale)
    kept = rules.kept(rated)
    if not kept:
        raise _nothing_kept(preview, rules)
    split_of = assign_splits([row.external_id for row in kept], rules.shares, rules.seed)
    record = rules.record
    selection = SeedSelection.objects.create(
        project=dataset.project,
        dataset=dataset,
        threshold=record["threshold"],
        shares=record["shares"],
        seed=rules.seed,
        created_by=by,
        report=_report(preview, rules, last),
    )
    selection.campaigns.set(campaigns)
    _set_splits([row.item_id for row in kept], [split_of[row.external_id] for row in kept])
    dataset_rehash(dataset)
    _create_members(selection, kept, rated, split_of)
    sizes = ", ".join(f"{name} {size:,}" for name, size in preview.sizes.items())
    audit_record(
        verb="seeds.select_again" if earlier is not None else "seeds.select",
        summary=f"Selected {len(kept):,} of {preview.candidates:,} seeds of “{dataset}” with a mean of at least "
        f"{rules.threshold:g}: {sizes}.",
        project=dataset.project,
        by=by,
        data={"dataset": dataset.slug, **record, "campaigns": [campaign.name for campaign in campaigns]},
    )
    return selection


def seeds_check(*, rules: SelectionRules, again: bool) -> tuple[tuple[float, float], SeedSelection | None]:
    """Refuse what can be refused before a rating is read. Return the scale and the selection to be replaced."""
    scale = _check(rules)
    check_seed(rules.seed)
    earlier = SeedSelection.objects.filter(dataset=rules.dataset).first()
    if earlier is not None:
        if not again:
            selected = f"The seeds of “{rules.dataset}” were selected on {earlier.created_at:%Y-%m-%d}"
            raise AnnotationError.at("dataset", f"{selected}; accepted: once.")
        _check_unused(earlier)
    return scale, earlier


def _nothing_kept(preview: SeedPreview, rules: SelectionRules) -> AnnotationError:
    if preview.qualified:
        reason = f"the best mean is {float(max(value for value, _ in preview.distribution)):g}"
    else:
        needs = (CRITERIA[name].requirement.format(value) for name, value in rules.criteria.items())
        reason = f"none has {' and '.join(needs)}"
    return AnnotationError.at("threshold", f"No seed has a mean of {rules.threshold:g} or more: {reason}.")


def _create_members(
    selection: SeedSelection, kept: Sequence[SeedRow], rated: RatedSeeds, split_of: Mapping[str, str]
) -> None:
    means = rated.means
    copy_rows(
        SeedMember,
        ["selection_id", "item_id", "response_id", "split", "rating_mean", "n_ratings"],
        (
            (
                selection.pk,
                row.item_id,
                row.response_id,
                split_of[row.external_id],
                float(means[row.response_id].value),
                means[row.response_id].n,
            )
            for row in kept
        ),
    )


@transaction.atomic
def seeds_unselect(*, selection: SeedSelection, by: User | None = None) -> None:
    """Delete a selection and the splits that it set, until something was mined or rated for it."""
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=selection.dataset_id)
    stored = SeedSelection.objects.filter(pk=selection.pk).first()
    if stored is None:
        raise AnnotationError(f"The selection of the seeds of “{dataset}” was deleted already.")
    _remove(stored)
    dataset_rehash(dataset)
    audit_record(
        verb="seeds.unselect",
        summary=f"Deleted the selection of the seeds of “{dataset}”.",
        project=dataset.project,
        by=by,
        data={"dataset": dataset.slug, "threshold": stored.threshold, "seed": stored.seed},
    )


def _check_unused(selection: SeedSelection) -> None:
    if uses := selection_uses(selection):
        raise AnnotationError(
            f"The selection of seeds of “{selection.dataset}” can no longer change: it is used by {', '.join(uses)}."
        )


def _remove(selection: SeedSelection) -> None:
    _check_unused(selection)
    items = list(selection.members.order_by().values_list("item_id", flat=True))
    _set_splits(items, [""] * len(items))
    selection.delete()


def _set_splits(items: Sequence[int], splits: Sequence[str]) -> None:
    sql.execute(
        """
        UPDATE annotation_item SET split = new.split
        FROM unnest(%s::bigint[], %s::text[]) AS new (id, split) WHERE annotation_item.id = new.id
        """,
        [list(items), list(splits)],
    )


def _check(rules: SelectionRules) -> tuple[float, float]:
    """Return the ends of the scale that the campaigns share."""
    dataset, threshold = rules.dataset, rules.threshold
    low, high = _check_campaigns(dataset, rules.campaigns)
    if not low <= threshold <= high:
        message = f"Found {threshold:g}; accepted: {low:g} to {high:g}, the campaigns' scale."
        raise AnnotationError.at("threshold", message)
    for name in rules.shares:
        if not 1 <= len(name.strip()) <= LONGEST_SPLIT or name != name.strip():
            message = f"Found a split named {name!r}; accepted: 1 to {LONGEST_SPLIT} characters, no blanks at its ends."
            raise AnnotationError.at("shares", message)
    try:
        split_sizes(0, rules.shares)
    except ValueError as error:
        raise AnnotationError.at("shares", f"{error}."[:1].upper() + f"{error}."[1:]) from error
    selected = SeedMember.objects.filter(selection__dataset=dataset).values("item")
    others = Item.objects.filter(dataset=dataset).exclude(split="").exclude(pk__in=selected)
    if splits := sorted(others.order_by().values_list("split", flat=True).distinct()[:5]):
        raise AnnotationError.at(
            "dataset",
            f"The items of “{dataset}” were uploaded with splits: {', '.join(splits)}; accepted: a data set without "
            "splits, since selecting writes them.",
        )
    return low, high


def _check_campaigns(dataset: Dataset, campaigns: Sequence[Campaign]) -> tuple[float, float]:
    if not campaigns:
        raise AnnotationError.at("campaigns", "Found none; choose the campaigns in which the seeds were rated.")
    for campaign in campaigns:
        if campaign.dataset_id != dataset.pk:
            raise AnnotationError.at("campaigns", f"Campaign “{campaign}” rates another data set than “{dataset}”.")
        if campaign.state == CampaignState.DRAFT:
            raise AnnotationError.at("campaigns", f"Campaign “{campaign}” is a draft; accepted: launched ones.")
    try:
        criteria = campaign_criteria(campaigns, on_one_scale=True)
    except AnnotationError as error:
        raise AnnotationError.at("campaigns", error.message) from error
    if relative := [criterion for criterion in criteria if criterion.scale.is_relative]:
        message = f"{relative[0].name!r} rates a text relative to another; accepted: criteria that rate texts alone."
        raise AnnotationError.at("campaigns", message)
    return criteria[0].scale.ends


def _report(preview: SeedPreview, rules: SelectionRules, last: int) -> dict[str, Any]:
    """Return the record of a selection: means as decimal numbers, their distribution in at most ``MOST_BARS`` steps."""
    return {
        "binning": BINNING,
        "rated": preview.qualified + preview.too_few,
        **{name: getattr(preview, name) for name in COUNTS},
        "several": preview.rated.several,
        "splits": preview.sizes,
        **rules.criteria,
        "scale": [preview.low, preview.high],
        "distribution": bars(preview.distribution, preview.low, preview.high),
        "kept_at": [[float(level), n] for level, n in preview.levels],
        "last_rating_id": last,
        "excluded_raters": len(excluded_rater_ids(rules.campaigns)),
        "campaigns": [
            {"id": campaign.pk, "name": campaign.name, "design_hash": campaign.design_hash}
            for campaign in rules.campaigns
        ],
    }


def bars(distribution: Sequence[tuple[Fraction, int]], low: float, high: float) -> list[list[float]]:
    """Return [from, to, seeds] for each mean, or for equal steps of the scale if there are too many means."""
    if len(distribution) <= MOST_BARS:
        return [[float(value), float(value), n] for value, n in distribution]
    first, step = exactly(low), (exactly(high) - exactly(low)) / (MOST_BARS // 2)
    counts: Counter[int] = Counter()
    for value, n in distribution:
        counts[min(int((value - first) / step), MOST_BARS // 2 - 1)] += n  # the highest mean is in the last step
    return [[float(first + step * bar), float(first + step * (bar + 1)), n] for bar, n in sorted(counts.items())]
