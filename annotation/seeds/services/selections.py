"""Seeds: candidates drawn from a corpus, the ones raters found good kept and binned into splits, then rated again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db import connection, transaction
from django.db.models import Max

from annotation.allocation import assign_splits, split_sizes
from annotation.campaigns.services.lists import campaign_for_list, response_list_create
from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.services.imports import dataset_slug
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
from annotation.seeds.selectors import Rated, SeedRow, exactly, kept_at, rated_seeds, thresholds, what_came_of

MOST_SAMPLED = 1_000_000
LARGEST_SEED = 2**63 - 1
LONGEST_SPLIT = 40
BINNING = "sha256-order/1"  # what annotation.allocation.assign_splits does
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
    """Queue a new data set of ``n`` triples drawn at random, without replacement: each with its response as seed.

    The caller enqueues ``annotation.datasets.tasks.dataset_import_execute`` with its id.
    """
    dataset_slug(corpus.project, name)
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: one whose index is done."
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
    described = {
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
            **{key: text for key, text in described.items() if text},
        },
    )
    audit_record(
        verb="seeds.sample",
        summary=f"Asked for {n:,} triples of the corpus “{corpus.name}” as “{name}”.",
        project=corpus.project,
        by=by,
        data={"import": job.pk, **sample},
    )
    return job


def _steps(hygiene: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for place, record in enumerate(hygiene):
        try:
            found.append(step_from_dict(record))
        except ParameterRefused as error:
            inside = error.inside(f"hygiene[{place}]")
            raise AnnotationError.at(inside.field, str(inside)) from error
    try:
        return [step_to_dict(step) for step in in_order(found)]
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
    """What selecting would do now, and what it would do at other thresholds."""

    rated: Rated
    low: float
    high: float
    candidates: int
    qualified: int
    unrated: int
    rated_less: int  # of those that qualify
    too_few: int  # rated, but by fewer than the least number
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
    min_ratings: int = 1,
) -> SeedPreview:
    """Nothing is written. Refuses what ``seeds_select`` refuses."""
    low, high = _checked(dataset, campaigns, threshold, shares, min_ratings)
    return _preview(rated_seeds(dataset, campaigns), low, high, threshold, shares, min_ratings)


def _preview(
    rated: Rated, low: float, high: float, threshold: float, shares: Mapping[str, float], least: int
) -> SeedPreview:
    qualified, kept = rated.qualified(least), rated.kept(exactly(threshold), least)
    with_any = len(rated.qualified(1))
    levels = sorted({*thresholds(low, high), exactly(threshold)})
    return SeedPreview(
        rated=rated,
        low=low,
        high=high,
        candidates=len(rated.seeds),
        qualified=len(qualified),
        unrated=len(rated.seeds) - with_any,
        rated_less=rated.rated_less(qualified),
        too_few=with_any - len(qualified),
        kept=len(kept),
        kept_rated_less=rated.rated_less(kept),
        sizes=split_sizes(len(kept), shares),
        levels=kept_at(rated, least, levels),
        distribution=rated.distribution(least),
    )


@transaction.atomic
def seeds_select(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    seed: int,
    min_ratings: int = 1,
    again: bool = False,
    by: User | None = None,
) -> SeedSelection:
    """Keep the items whose original response has a mean rating of ``threshold`` or more, and bin them into splits.

    A seed with fewer ratings than were asked for is judged by those it has, unless they are fewer than ``min_ratings``;
    one without any is never kept. Items are binned by external id and ``seed`` alone: see
    ``annotation.allocation.assign_splits``. The items of the data set that are not kept have no split.

    Once for a data set. ``again`` replaces a selection, which is possible as long as nothing was mined or rated for it.
    """
    dataset = Dataset.objects.select_for_update().get(pk=dataset.pk)  # one selection at a time
    low, high, earlier = seeds_check(
        dataset=dataset,
        campaigns=campaigns,
        threshold=threshold,
        shares=shares,
        seed=seed,
        min_ratings=min_ratings,
        again=again,
    )
    if earlier is not None:
        _remove(earlier)
    ratings_await(campaigns=campaigns)
    last = Rating.objects.filter(campaign__in=campaigns).aggregate(last=Max("id"))["last"] or 0
    rated = rated_seeds(dataset, campaigns, up_to=last)
    preview = _preview(rated, low, high, threshold, shares, min_ratings)
    kept = rated.kept(exactly(threshold), min_ratings)
    if not kept:
        raise _nothing_kept(preview, threshold, min_ratings)
    split_of = assign_splits([row.external_id for row in kept], shares, seed)
    selection = SeedSelection.objects.create(
        project=dataset.project,
        dataset=dataset,
        threshold=float(threshold),
        shares={name: float(share) for name, share in shares.items()},
        seed=seed,
        created_by=by,
        report=_report(preview, campaigns, min_ratings, last),
    )
    selection.campaigns.set(campaigns)
    _set_splits([row.item_id for row in kept], [split_of[row.external_id] for row in kept])
    _keep_members(selection, kept, rated, split_of)
    told = ", ".join(f"{name} {size:,}" for name, size in preview.sizes.items())
    audit_record(
        verb="seeds.select_again" if earlier is not None else "seeds.select",
        summary=f"Selected {len(kept):,} of {preview.candidates:,} seeds of “{dataset}” with a mean of at least "
        f"{threshold:g}: {told}.",
        project=dataset.project,
        by=by,
        data={
            "dataset": dataset.slug,
            "threshold": float(threshold),
            "shares": selection.shares,
            "seed": seed,
            "min_ratings": min_ratings,
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
    min_ratings: int,
    again: bool,
) -> tuple[float, float, SeedSelection | None]:
    """Refuse what can be refused before a rating is read; the ends of the scale, and the selection to be replaced."""
    low, high = _checked(dataset, campaigns, threshold, shares, min_ratings)
    _check_seed(seed)
    earlier = SeedSelection.objects.filter(dataset=dataset).first()
    if earlier is not None:
        if not again:
            message = f"The seeds of “{dataset}” were selected on {earlier.created_at:%Y-%m-%d}; accepted: once."
            raise AnnotationError.at("dataset", message)
        _check_nothing_came_of(earlier)
    return low, high, earlier


def _nothing_kept(preview: SeedPreview, threshold: float, least: int) -> AnnotationError:
    if preview.qualified:
        found = f"the best mean is {float(max(value for value, _ in preview.distribution)):g}"
    else:
        found = f"none has {least} ratings that count"
    return AnnotationError.at("threshold", f"No seed has a mean of {threshold:g} or more: {found}.")


def _keep_members(selection: SeedSelection, kept: Sequence[SeedRow], rated: Rated, split_of: Mapping[str, str]) -> None:
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
    """Take a selection back, with the splits that it set; possible while nothing was mined or rated for it."""
    dataset = Dataset.objects.select_for_update().get(pk=selection.dataset_id)
    held = SeedSelection.objects.filter(pk=selection.pk).first()
    if held is None:
        raise AnnotationError(f"The selection of the seeds of “{dataset}” is gone already.")
    _remove(held)
    audit_record(
        verb="seeds.unselect",
        summary=f"Took back the selection of the seeds of “{dataset}”.",
        project=dataset.project,
        by=by,
        data={"dataset": dataset.slug, "threshold": held.threshold, "seed": held.seed},
    )


def _check_nothing_came_of(selection: SeedSelection) -> None:
    if reasons := what_came_of(selection):
        raise AnnotationError(
            f"The seeds of “{selection.dataset}” stay as they were selected: there is {', '.join(reasons)} already."
        )


def _remove(selection: SeedSelection) -> None:
    _check_nothing_came_of(selection)
    items = list(selection.members.order_by().values_list("item_id", flat=True))
    _set_splits(items, [""] * len(items))
    selection.delete()


def _set_splits(items: Sequence[int], splits: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE annotation_item SET split = found.split
            FROM unnest(%s::bigint[], %s::text[]) AS found (id, split) WHERE annotation_item.id = found.id
            """,
            [list(items), list(splits)],
        )


def _checked(
    dataset: Dataset, campaigns: Sequence[Campaign], threshold: float, shares: Mapping[str, float], least: int
) -> tuple[float, float]:
    """The ends of the scale that the campaigns share."""
    low, high = _check_campaigns(dataset, campaigns)
    if not low <= threshold <= high:
        raise AnnotationError.at(
            "threshold", f"Found {threshold:g}; accepted: {low:g} to {high:g}, the campaigns' scale."
        )
    if not _is_whole(least) or not 1 <= least <= 100:
        raise AnnotationError.at("min_ratings", f"Found {least}; accepted: 1 to 100.")
    for name in shares:
        if not 1 <= len(name.strip()) <= LONGEST_SPLIT or name != name.strip():
            message = f"Found a split named {name!r}; accepted: 1 to {LONGEST_SPLIT} characters, no blanks at its ends."
            raise AnnotationError.at("shares", message)
    try:
        split_sizes(0, shares)
    except ValueError as error:
        raise AnnotationError.at("shares", f"{error}."[:1].upper() + f"{error}."[1:]) from error
    own = SeedMember.objects.filter(selection__dataset=dataset).values("item")
    foreign = Item.objects.filter(dataset=dataset).exclude(split="").exclude(pk__in=own)
    if found := sorted(foreign.order_by().values_list("split", flat=True).distinct()[:5]):
        raise AnnotationError.at(
            "dataset",
            f"The items of “{dataset}” came with splits: {', '.join(found)}; accepted: a data set without, since "
            "selecting writes splits of its own.",
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
    if open_ended := [one for one in criteria if one.scale.is_relative]:
        message = f"{open_ended[0].name!r} rates one text by another; accepted: criteria on a scale of their own."
        raise AnnotationError.at("campaigns", message)
    return criteria[0].scale.ends


def _report(preview: SeedPreview, campaigns: Sequence[Campaign], least: int, last: int) -> dict[str, Any]:
    """Means as decimal numbers; those of the distribution in at most ``MOST_BARS`` steps."""
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
        "min_ratings": least,
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
    """[from, to, seeds]: means that raters can give, each its own bar; of many, equal steps of the scale."""
    if len(distribution) <= MOST_BARS:
        return [[float(value), float(value), n] for value, n in distribution]
    first, step = exactly(low), (exactly(high) - exactly(low)) / (MOST_BARS // 2)
    counts: dict[int, int] = {}
    for value, n in distribution:
        place = min(int((value - first) / step), MOST_BARS // 2 - 1)  # the highest mean belongs to the last step
        counts[place] = counts.get(place, 0) + n
    return [[float(first + step * place), float(first + step * (place + 1)), n] for place, n in sorted(counts.items())]


# --- Rating them again ------------------------------------------------------------------------------------------------


@transaction.atomic
def seeds_rate_again(
    *, selection: SeedSelection, ratings_per_unit: int = 2, like: Campaign | None = None, by: User | None = None
) -> Campaign:
    """A draft that asks for more ratings of every selected seed, after the campaign they were selected from."""
    model = like or next(
        (one for one in selection.campaigns.order_by("pk") if not one.presentation_kind.compares_systems), None
    )
    if model is None:
        raise AnnotationError.at("like", "The seeds were rated in pairs; name a campaign to be like.")
    return campaign_for_list(
        response_list=seeds_list(selection=selection, by=by),
        like=model,
        ratings_per_unit=ratings_per_unit,
        by=by,
    )


@transaction.atomic
def seeds_list(*, selection: SeedSelection, by: User | None = None) -> ResponseList:
    """The selected seeds as a list; there is one for a selection."""
    SeedSelection.objects.select_for_update().get(pk=selection.pk)
    members = list(selection.members.order_by("pk").values_list("response_id", flat=True))
    # What a list's origin says may have come with a file; which responses are on it may not.
    told = {"kind": "seeds", "selection": selection.pk}
    for found in ResponseList.objects.filter(dataset=selection.dataset, origin__contains=told).order_by("pk"):
        if set(found.responses.order_by().values_list("pk", flat=True)) == set(members):
            return found
    return response_list_create(
        dataset=selection.dataset,
        name=f"Seeds of {selection.dataset.name}"[:120],
        responses=members,
        origin={"kind": "seeds", "selection": selection.pk, "threshold": selection.threshold},
        by=by,
    )
