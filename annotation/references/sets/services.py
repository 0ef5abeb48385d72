"""Create and change reference sets: which responses are references, and whose ratings weigh them."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.text import slugify

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Dataset, Project, ReferenceSet, SourceKind, System, User
from annotation.projects.services.audit import audit_record
from annotation.projects.services.editing import changed_since, columns_of, overtaken_check
from annotation.rating.selectors.ratings import campaign_criteria

MAX_NAME = 120
DESCRIBED = ("name", "description")
TEXT_KINDS = [kind.value for kind in SourceKind if kind != SourceKind.SYSTEM]  # of sources without a system


@transaction.atomic
def reference_set_create(
    *,
    dataset: Dataset,
    name: str,
    campaigns: Sequence[Campaign],
    source_kinds: Sequence[str] = (),
    source_systems: Sequence[str] = (),
    original_kinds: Sequence[str] = (),
    original_systems: Sequence[str] = (),
    description: str = "",
) -> ReferenceSet:
    """Create a reference set. It must be possible to average the criteria of its campaigns."""
    check_name(name)
    _check_campaigns(dataset, campaigns)
    _check_sources(dataset, source_kinds, source_systems)
    _check_originals(source_kinds, source_systems, original_kinds, original_systems)
    reference_set = ReferenceSet.objects.create(
        project=dataset.project,
        dataset=dataset,
        name=name,
        slug=free_slug(dataset.project, name),
        description=description,
        source_kinds=sorted(source_kinds),
        source_systems=sorted(source_systems),
        original_kinds=sorted(original_kinds),
        original_systems=sorted(original_systems),
    )
    reference_set.campaigns.set(campaigns)
    return reference_set


@transaction.atomic
def reference_set_edit(
    *, reference_set: ReferenceSet, by: User | None, seen: str = "", **described: str
) -> ReferenceSet:
    """Change columns of ``DESCRIBED``. The slug stays: papers, score runs and studies name releases by it.

    With ``seen``, the ``version_of`` the description that the user saw, no change made since is overwritten.
    """
    if unknown := described.keys() - set(DESCRIBED):
        raise TypeError(f"unknown columns: {', '.join(sorted(unknown))}")
    fresh = ReferenceSet.objects.select_for_update(of=("self",)).select_related("project").get(pk=reference_set.pk)
    stored = columns_of(fresh, DESCRIBED)
    new = changed_since({name: value.strip() for name, value in described.items()}, seen)
    changes = fresh.project.audit_entries.filter(verb="reference_set.edit", data__reference_set=fresh.slug)
    overtaken_check(stored=stored, new=new, seen=seen, changes=changes, by=by)
    changed = {name: [stored[name], value] for name, value in new.items() if value != stored[name]}
    if "name" in changed:
        check_name(changed["name"][1])
    if changed:
        ReferenceSet.objects.filter(pk=fresh.pk).update(**{field: new for field, (_, new) in changed.items()})
        what = " and ".join(changed)
        summary = f"Changed the {what} of the reference set “{fresh.name}”"
        data = {"reference_set": fresh.slug, "changed": changed}
        audit_record(verb="reference_set.edit", summary=summary, project=fresh.project, by=by, data=data)
    reference_set.refresh_from_db()
    return reference_set


@transaction.atomic
def reference_set_add_campaign(*, reference_set: ReferenceSet, campaign: Campaign, by: User | None) -> ReferenceSet:
    """Add a campaign to the set. Later releases include its ratings; earlier releases keep their campaigns."""
    fresh = (
        ReferenceSet.objects.select_for_update(of=("self",))
        .select_related("project", "dataset")
        .get(pk=reference_set.pk)
    )
    present = list(fresh.campaigns.all())
    if campaign in present:
        raise AnnotationError.at("campaigns", f"Campaign “{campaign}” is already in “{fresh}”.")
    if campaign.project_id != fresh.project_id:
        raise AnnotationError.at("campaigns", f"Campaign “{campaign}” belongs to another project.")
    _check_campaigns(fresh.dataset, [*present, campaign])
    fresh.campaigns.add(campaign)
    summary = f"Added the campaign “{campaign}” to the reference set “{fresh}”"
    data = {"reference_set": fresh.slug, "campaign": campaign.name}
    audit_record(verb="reference_set.add_campaign", summary=summary, project=fresh.project, by=by, data=data)
    reference_set.refresh_from_db()
    return reference_set


def check_name(name: str) -> None:
    if not 1 <= len(name.strip()) <= MAX_NAME:
        raise AnnotationError.at("name", f"Found {len(name.strip())} characters; accepted: 1 to {MAX_NAME}.")


def free_slug(project: Project, name: str) -> str:
    """Return the address of a new set, with a number if that is taken; other requests wait until the set is stored."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    base = slugify(name)[:50] or "references"
    taken = set(project.reference_sets.filter(slug__startswith=base).values_list("slug", flat=True))
    taken |= {"new", "import"}  # addresses of their own
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)


def _check_campaigns(dataset: Dataset, campaigns: Sequence[Campaign]) -> None:
    if not campaigns:
        raise AnnotationError.at("campaigns", "No campaign is chosen; accepted: one or more.")
    for campaign in campaigns:
        if campaign.dataset_id != dataset.pk:
            raise AnnotationError.at("campaigns", f"Campaign “{campaign}” rates another data set than “{dataset}”.")
        if campaign.state == CampaignState.DRAFT:
            raise AnnotationError.at("campaigns", f"Campaign “{campaign}” is a draft; accepted: launched campaigns.")
    try:
        campaign_criteria(campaigns)
    except AnnotationError as error:
        raise AnnotationError.at("campaigns", error.message) from error


def _check_sources(dataset: Dataset, kinds: Sequence[str], systems: Sequence[str]) -> None:
    if unknown := sorted(set(kinds) - set(TEXT_KINDS)):
        message = f"Unknown kind of source {unknown[0]!r}; accepted: {', '.join(TEXT_KINDS)}."
        raise AnnotationError.at("source_kinds", message)
    named = set(System.objects.filter(dataset=dataset).values_list("name", flat=True))
    if missing := sorted(set(systems) - named):
        has = ", ".join(sorted(named)) or "none"
        raise AnnotationError.at("source_systems", f"Data set “{dataset}” has no system {missing[0]!r}; it has: {has}.")
    if not kinds and not systems:
        raise AnnotationError.at("source_systems", "No source is chosen; accepted: at least one kind or system.")


def _check_originals(
    kinds: Sequence[str], systems: Sequence[str], original_kinds: Sequence[str], original_systems: Sequence[str]
) -> None:
    for field, originals, sources in (
        ("original_kinds", original_kinds, kinds),
        ("original_systems", original_systems, systems),
    ):
        if stray := sorted(set(originals) - set(sources)):
            has = ", ".join(sorted(sources)) or "none"
            message = f"The original {stray[0]!r} is not a source of this set; its sources are: {has}."
            raise AnnotationError.at(field, message)
