"""Draw candidates for seeds from a corpus, select seeds by their ratings, put them into splits, and rate them again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db import connection, transaction
from django.db.models import Max

from annotation.allocation.splits import assign_splits, split_sizes
from annotation.campaigns.services.lists import campaign_for_list
from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.services.imports import dataset_slug
from annotation.datasets.services.lists import response_list_create
from annotation.hygiene.refusal import ParameterRefused
from annotation.hygiene.steps import in_order, step_from_dict, step_to_dict
from annotation.models import (
    Campaign,
    CampaignState,
    Corpus,
    Dataset,
    DatasetImport,
    Item,
    JobState,
    Rating,
    ResponseList,
    SeedMember,
    SeedSelection,
    User,
)
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.rating.services.ratings import ratings_await
from annotation.seeds.criteria import CRITERIA, criteria_values
from annotation.seeds.selectors import RatedSeeds, SeedRow, exactly, kept_at, rated_seeds, selection_uses, thresholds

MOST_SAMPLED = 1_000_000
LARGEST_SEED = 2**63 - 1
LONGEST_SPLIT = 40
BINNING = "sha256-order/1"  # what annotation.allocation.splits.assign_splits does
MOST_BARS = 60


# --- Candidates from a corpus -----------------------------------------------------------------------------------------


def seeds_sample(
    *,
    corpus: Corpus,
    name: str,
    n: int,
    seed: int,
    hygiene: Sequence[Mapping[str, Any]] = (),
    normalisation: str = DEFAULT_RULE,
    by: User | None = None,
) -> DatasetImport:
    """Queue a new data set of ``n`` random triples, drawn without replacement, each with its response as seed.

    The caller enqueues ``annotation.datasets.tasks.dataset_import_execute`` with its id.
    """
    dataset_slug(corpus.project, name)
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: a corpus whose index is done."
        raise AnnotationError.at("corpus", message)
    most = min(corpus.n_triples, MOST_SAMPLED)
    if not _is_whole(n) or not 1 <= n <= most:
        raise AnnotationError.at(
            "n", f"Found {n}; accepted: 1 to {most:,}, of the corpus's {corpus.n_triples:,} triples."
        )
    _check_seed(seed)
    if normalisation not in RULES:
        raise AnnotationError.at("normalisation", f"Found {normalisation!r}; accepted: {', '.join(RULES)}.")
    sample = {"corpus": corpus.pk, "n": n, "seed": seed, "hygiene": _steps(hygiene), "content": corpus.content_hash}
    description = {
        "description": f"{n:,} triples drawn at random from the corpus {corpus.name} with the seed {seed}.",
        "language": corpus.language,
        "licence": corpus.licence,
        "attribution": corpus.attribution,
    }
    job = DatasetImport.objects.create(
        project=corpus.project,
        requested_by=by,
        name=name,
        filename=f"{n:,} triples of {corpus.name}"[:255],
        file_format="jsonl",
        content=b"",
        options={
            "sample": sample,
            "normalisation": normalisation,
            **{key: text for key, text in description.items() if text},
        },
    )
    audit_record(
        verb="seeds.sample",
        summary=f"Requested {n:,} triples of the corpus “{corpus.name}” as “{name}”.",
        project=corpus.project,
        by=by,
        data={"import": job.pk, **sample},
    )
    return job


def _steps(hygiene: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    steps = []
    for index, record in enumerate(hygiene):
        try:
            steps.append(step_from_dict(record))
        except ParameterRefused as error:
            inside = error.inside(f"hygiene[{index}]")
            raise AnnotationError.at(inside.field, str(inside)) from error
    try:
        return [step_to_dict(step) for step in in_order(steps)]
    except ParameterRefused as error:
        raise AnnotationError.at("hygiene", str(error)) from error


def _check_seed(seed: int) -> None:
    if not _is_whole(seed) or not 0 <= seed <= LARGEST_SEED:
        raise AnnotationError.at("seed", f"Found {seed}; accepted: a whole number from 0 to {LARGEST_SEED}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# --- Selecting --------------------------------------------------------------------------------------------------------


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


def seeds_preview(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    **criteria: int,
) -> SeedPreview:
    """Return what ``seeds_select`` would do, and refuse what it refuses. Nothing is written."""
    values = criteria_values(criteria)
    scale = _check(dataset, campaigns, threshold, shares)
    return _preview(rated_seeds(dataset, campaigns), scale, threshold, shares, values)


def _preview(
    rated: RatedSeeds,
    scale: tuple[float, float],
    threshold: float,
    shares: Mapping[str, float],
    criteria: Mapping[str, int],
) -> SeedPreview:
    low, high = scale
    qualified, kept = rated.qualified(criteria), rated.kept(exactly(threshold), criteria)
    n_rated = len(rated.qualified({}))
    levels = sorted({*thresholds(low, high), exactly(threshold)})
    return SeedPreview(
        rated=rated,
        low=low,
        high=high,
        candidates=len(rated.seeds),
        qualified=len(qualified),
        unrated=len(rated.seeds) - n_rated,
        rated_less=rated.rated_less(qualified),
        too_few=n_rated - len(qualified),
        failing={name: n_rated - len(rated.qualified({name: value})) for name, value in criteria.items()},
        kept=len(kept),
        kept_rated_less=rated.rated_less(kept),
        sizes=split_sizes(len(kept), shares),
        levels=kept_at(rated, criteria, levels),
        distribution=rated.distribution(criteria),
    )


@transaction.atomic
def seeds_select(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    seed: int,
    again: bool = False,
    by: User | None = None,
    **criteria: int,
) -> SeedSelection:
    """Keep the items whose original response has a mean rating of ``threshold`` or more, and put them into splits.

    ``criteria`` are further conditions, by the names of ``annotation.seeds.criteria.CRITERIA``. A seed with fewer
    ratings than planned is judged by those it has; a seed without any is never kept. The split of an item follows from
    its external id and ``seed`` alone: see ``allocation.splits.assign_splits``. Items that are not kept have no split.

    A data set has one selection. ``again`` replaces it, which is possible until something was mined or rated for it.
    """
    values = criteria_values(criteria)
    dataset = Dataset.objects.select_for_update().get(pk=dataset.pk)  # one selection at a time
    scale, earlier = seeds_check(
        dataset=dataset, campaigns=campaigns, threshold=threshold, shares=shares, seed=seed, again=again, **values
    )
    if earlier is not None:
        _remove(earlier)
    ratings_await(campaigns=campaigns)
    last = Rating.objects.filter(campaign__in=campaigns).aggregate(last=Max("id"))["last"] or 0
    rated = rated_seeds(dataset, campaigns, up_to=last)
    preview = _preview(rated, scale, threshold, shares, values)
    kept = rated.kept(exactly(threshold), values)
    if not kept:
        raise _nothing_kept(preview, threshold, values)
    split_of = assign_splits([row.external_id for row in kept], shares, seed)
    selection = SeedSelection.objects.create(
        project=dataset.project,
        dataset=dataset,
        threshold=float(threshold),
        shares={name: float(share) for name, share in shares.items()},
        seed=seed,
        created_by=by,
        report=_report(preview, campaigns, values, last),
    )
    selection.campaigns.set(campaigns)
    _set_splits([row.item_id for row in kept], [split_of[row.external_id] for row in kept])
    _create_members(selection, kept, rated, split_of)
    sizes = ", ".join(f"{name} {size:,}" for name, size in preview.sizes.items())
    audit_record(
        verb="seeds.select_again" if earlier is not None else "seeds.select",
        summary=f"Selected {len(kept):,} of {preview.candidates:,} seeds of “{dataset}” with a mean of at least "
        f"{threshold:g}: {sizes}.",
        project=dataset.project,
        by=by,
        data={
            "dataset": dataset.slug,
            "threshold": float(threshold),
            "shares": selection.shares,
            "seed": seed,
            **values,
            "campaigns": [campaign.name for campaign in campaigns],
        },
    )
    return selection


def seeds_check(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    seed: int,
    again: bool,
    **criteria: int,
) -> tuple[tuple[float, float], SeedSelection | None]:
    """Refuse what can be refused before a rating is read. Return the scale and the selection to be replaced."""
    criteria_values(criteria)
    scale = _check(dataset, campaigns, threshold, shares)
    _check_seed(seed)
    earlier = SeedSelection.objects.filter(dataset=dataset).first()
    if earlier is not None:
        if not again:
            message = f"The seeds of “{dataset}” were selected on {earlier.created_at:%Y-%m-%d}; accepted: once."
            raise AnnotationError.at("dataset", message)
        _check_unused(earlier)
    return scale, earlier


def _nothing_kept(preview: SeedPreview, threshold: float, criteria: Mapping[str, int]) -> AnnotationError:
    if preview.qualified:
        reason = f"the best mean is {float(max(value for value, _ in preview.distribution)):g}"
    else:
        reason = "none has " + " and ".join(
            CRITERIA[name].requirement.format(value) for name, value in criteria.items()
        )
    return AnnotationError.at("threshold", f"No seed has a mean of {threshold:g} or more: {reason}.")


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
    dataset = Dataset.objects.select_for_update().get(pk=selection.dataset_id)
    stored = SeedSelection.objects.filter(pk=selection.pk).first()
    if stored is None:
        raise AnnotationError(f"The selection of the seeds of “{dataset}” was deleted already.")
    _remove(stored)
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
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE annotation_item SET split = new.split
            FROM unnest(%s::bigint[], %s::text[]) AS new (id, split) WHERE annotation_item.id = new.id
            """,
            [list(items), list(splits)],
        )


def _check(
    dataset: Dataset, campaigns: Sequence[Campaign], threshold: float, shares: Mapping[str, float]
) -> tuple[float, float]:
    """Return the ends of the scale that the campaigns share."""
    low, high = _check_campaigns(dataset, campaigns)
    if not low <= threshold <= high:
        raise AnnotationError.at(
            "threshold", f"Found {threshold:g}; accepted: {low:g} to {high:g}, the campaigns' scale."
        )
    for name in shares:
        if not 1 <= len(name.strip()) <= LONGEST_SPLIT or name != name.strip():
            message = f"Found a split named {name!r}; accepted: 1 to {LONGEST_SPLIT} characters, no blanks at its ends."
            raise AnnotationError.at("shares", message)
    try:
        split_sizes(0, shares)
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
        criteria = campaign_criteria(campaigns)
    except AnnotationError as error:
        raise AnnotationError.at("campaigns", error.message) from error
    if relative := [criterion for criterion in criteria if criterion.scale.is_relative]:
        message = f"{relative[0].name!r} rates a text relative to another; accepted: criteria that rate texts alone."
        raise AnnotationError.at("campaigns", message)
    return criteria[0].scale.ends


def _report(
    preview: SeedPreview, campaigns: Sequence[Campaign], criteria: Mapping[str, int], last: int
) -> dict[str, Any]:
    """Return the record of a selection: means as decimal numbers, their distribution in at most ``MOST_BARS`` steps."""
    return {
        "binning": BINNING,
        "candidates": preview.candidates,
        "rated": preview.qualified + preview.too_few,
        "unrated": preview.unrated,
        "too_few": preview.too_few,
        "rated_less": preview.rated_less,
        "kept": preview.kept,
        "kept_rated_less": preview.kept_rated_less,
        "several": preview.rated.several,
        "splits": preview.sizes,
        **criteria,
        "scale": [preview.low, preview.high],
        "distribution": bars(preview.distribution, preview.low, preview.high),
        "kept_at": [[float(level), n] for level, n in preview.levels],
        "last_rating_id": last,
        "excluded_raters": len(excluded_rater_ids(campaigns)),
        "campaigns": [
            {"id": campaign.pk, "name": campaign.name, "design_hash": campaign.design_hash} for campaign in campaigns
        ],
    }


def bars(distribution: Sequence[tuple[Fraction, int]], low: float, high: float) -> list[list[float]]:
    """Return [from, to, seeds] for each mean, or for equal steps of the scale if there are too many means."""
    if len(distribution) <= MOST_BARS:
        return [[float(value), float(value), n] for value, n in distribution]
    first, step = exactly(low), (exactly(high) - exactly(low)) / (MOST_BARS // 2)
    counts: dict[int, int] = {}
    for value, n in distribution:
        bar = min(int((value - first) / step), MOST_BARS // 2 - 1)  # the highest mean belongs to the last step
        counts[bar] = counts.get(bar, 0) + n
    return [[float(first + step * bar), float(first + step * (bar + 1)), n] for bar, n in sorted(counts.items())]


# --- Rating them again ------------------------------------------------------------------------------------------------


@transaction.atomic
def seeds_rate_again(
    *, selection: SeedSelection, ratings_per_unit: int = 2, like: Campaign | None = None, by: User | None = None
) -> Campaign:
    """Create a draft that collects more ratings of every seed, with the design of the campaign that rated them."""
    campaigns = selection.campaigns.order_by("pk")
    like = like or next((one for one in campaigns if not one.presentation_kind.compares_systems), None)
    if like is None:
        raise AnnotationError.at("like", "The seeds were rated in pairs; name the campaign whose design to use.")
    return campaign_for_list(
        response_list=seeds_list(selection=selection, by=by),
        like=like,
        ratings_per_unit=ratings_per_unit,
        by=by,
    )


@transaction.atomic
def seeds_list(*, selection: SeedSelection, by: User | None = None) -> ResponseList:
    """Return the list of the selected seeds; create it if there is none yet."""
    SeedSelection.objects.select_for_update().get(pk=selection.pk)
    members = list(selection.members.order_by("pk").values_list("response_id", flat=True))
    # An imported list may name another origin; its responses decide.
    origin = {"kind": "seeds", "selection": selection.pk}
    for existing in ResponseList.objects.filter(dataset=selection.dataset, origin__contains=origin).order_by("pk"):
        if set(existing.responses.order_by().values_list("pk", flat=True)) == set(members):
            return existing
    return response_list_create(
        dataset=selection.dataset,
        name=f"Seeds of {selection.dataset.name}"[:120],
        responses=members,
        origin={**origin, "threshold": selection.threshold},
        by=by,
    )
