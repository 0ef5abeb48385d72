"""The life of a campaign: drafted, launched once with its design frozen, paused, resumed, closed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotation.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Criterion, Dataset, PresentationKind, Project, System, Target
from annotation.services.launch import design_freeze, units_create

MAX_CRITERIA = 5
MAX_POINTS = 11
RANGES = {
    "ratings_per_unit": (1, 100),
    "lease_seconds": (5, 30 * 24 * 3600),
    "item_limit": (1, 10**9),
    "max_units_per_rater": (1, 10**9),
    "seed": (0, 2**63 - 1),
}
NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
OPTIONAL = ("item_limit", "max_units_per_rater")


@dataclass(frozen=True)
class CriterionDraft:
    """One question with its scale; ``labels`` is empty or holds one label per point."""

    name: str
    question: str
    scale_min: int = 1
    scale_max: int = 5
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class CampaignDraft:
    """Everything a manager decides about a campaign before its launch."""

    dataset: Dataset
    name: str
    criteria: Sequence[CriterionDraft]
    target: str = Target.OUTPUTS
    systems: Sequence[System] = field(default_factory=tuple)
    presentation: str = PresentationKind.SINGLE
    ratings_per_unit: int = 5
    item_limit: int | None = None
    instructions: str = ""
    consent: str = ""
    lease_seconds: int = 600
    max_units_per_rater: int | None = None
    completion_code: str = ""
    seed: int = 20150726


@transaction.atomic
def campaign_create(*, project: Project, draft: CampaignDraft) -> Campaign:
    return _save(Campaign(project=project), draft)


@transaction.atomic
def campaign_update(*, campaign: Campaign, draft: CampaignDraft) -> Campaign:
    """Change a draft. A launched campaign's design is frozen."""
    campaign = _locked(campaign)
    if campaign.state != CampaignState.DRAFT:
        raise AnnotationError(
            f"The campaign is {campaign.get_state_display().lower()}: its design was frozen at launch. "
            "Only a draft can be edited."
        )
    return _save(campaign, draft)


@transaction.atomic
def campaign_launch(*, campaign: Campaign) -> Campaign:
    """Plan the units, give each its k slots, freeze and hash the design, open for raters: all or nothing."""
    campaign = _locked(campaign)
    if campaign.imported:
        raise AnnotationError("The ratings of this campaign were collected elsewhere: there is nothing to launch.")
    if campaign.state != CampaignState.DRAFT:
        raise AnnotationError(f"The campaign is {campaign.get_state_display().lower()}: only a draft can be launched.")
    plan = units_create(campaign)
    campaign.design, campaign.design_hash = design_freeze(campaign, plan)
    campaign.state = CampaignState.RUNNING
    campaign.launched_at = Now()
    campaign.save()
    campaign.refresh_from_db()
    return campaign


def campaign_pause(*, campaign: Campaign) -> Campaign:
    """Hand out nothing more. What raters hold they may still submit."""
    return _change(campaign, [CampaignState.RUNNING], CampaignState.PAUSED)


def campaign_resume(*, campaign: Campaign) -> Campaign:
    return _change(campaign, [CampaignState.PAUSED], CampaignState.RUNNING)


def campaign_close(*, campaign: Campaign) -> Campaign:
    """For good. From here on the server refuses every rating, also of units that raters still hold."""
    return _change(campaign, [CampaignState.RUNNING, CampaignState.PAUSED], CampaignState.CLOSED)


def _change(campaign: Campaign, accepted: Sequence[CampaignState], to: CampaignState) -> Campaign:
    with transaction.atomic():
        campaign = _locked(campaign)
        if campaign.state not in accepted:
            raise AnnotationError(
                f"The campaign is {campaign.get_state_display().lower()}; to become {to.label.lower()} it must be "
                f"{' or '.join(state.label.lower() for state in accepted)}."
            )
        campaign.state = to
        if to == CampaignState.CLOSED:
            campaign.closed_at = Now()
        campaign.save(update_fields=["state", "closed_at"])
    campaign.refresh_from_db()
    return campaign


def _locked(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)


def _save(campaign: Campaign, draft: CampaignDraft) -> Campaign:
    _validate(campaign.project, draft)
    for name in ("dataset", "name", "target", "presentation", "ratings_per_unit", "item_limit", "instructions",
                 "consent", "lease_seconds", "max_units_per_rater", "completion_code", "seed"):  # fmt: skip
        setattr(campaign, name, getattr(draft, name))
    try:
        with transaction.atomic():
            campaign.save()
    except IntegrityError as error:
        if "campaign_name_once_per_project" not in str(error):
            raise
        message = f"This project has a campaign named {draft.name!r} already; choose another name."
        raise AnnotationError.at("name", message) from error
    campaign.systems.set(draft.systems if draft.target == Target.CHOSEN else [])
    campaign.criteria.all().delete()
    Criterion.objects.bulk_create(
        Criterion(
            campaign=campaign,
            position=position,
            name=criterion.name,
            question=criterion.question,
            scale_min=criterion.scale_min,
            scale_max=criterion.scale_max,
            labels=list(criterion.labels),
        )
        for position, criterion in enumerate(draft.criteria)
    )
    campaign.refresh_from_db()
    return campaign


def _validate(project: Project, draft: CampaignDraft) -> None:
    """Every mistake at once, each tied to its field."""
    problems: dict[str, list[str]] = {}

    def refuse(name: str, message: str) -> None:
        problems.setdefault(name, []).append(message)

    if draft.dataset.project_id != project.pk:
        refuse("dataset", f"Data set {draft.dataset.name!r} is not one of this project.")
    if not draft.name.strip():
        refuse("name", "Found nothing; a campaign needs a name.")
    for name, longest in (("name", 120), ("completion_code", 60)):
        if len(getattr(draft, name)) > longest:
            refuse(name, f"Found {len(getattr(draft, name))} characters; accepted: up to {longest}.")
    for name, (low, high) in RANGES.items():
        value = getattr(draft, name)
        if value is None and name in OPTIONAL:
            continue
        if not low <= value <= high:
            nothing = ", or nothing for no limit" if name in OPTIONAL else ""
            refuse(name, f"Found {value}; accepted: {low} to {high}{nothing}.")
    if draft.target not in Target.values:
        refuse("target", f"Found {draft.target!r}; accepted: {', '.join(Target.values)}.")
    if draft.presentation not in PresentationKind.values:
        refuse("presentation", f"Found {draft.presentation!r}; accepted: {', '.join(PresentationKind.values)}.")
    _validate_systems(draft, refuse)
    _validate_criteria(draft.criteria, refuse)
    if problems:
        raise AnnotationError(" ".join(message for found in problems.values() for message in found), fields=problems)


def _validate_systems(draft: CampaignDraft, refuse: Callable[[str, str], None]) -> None:
    foreign = [system.name for system in draft.systems if system.dataset_id != draft.dataset.pk]
    if foreign:
        refuse("systems", f"{', '.join(foreign)}: not a system of the data set {draft.dataset.name!r}.")
    if draft.target == Target.CHOSEN and not draft.systems:
        refuse("systems", "Found none; choose the systems whose outputs are to be rated.")
    if draft.presentation == PresentationKind.PAIR and draft.target == Target.REFERENCES:
        refuse("presentation", "Pairs compare systems: rate system outputs, or show references singly or as a list.")
    if draft.presentation == PresentationKind.PAIR and draft.target == Target.CHOSEN and len(set(draft.systems)) == 1:
        refuse("systems", f"Found only {draft.systems[0].name}; a pair needs two systems.")


def _validate_criteria(criteria: Sequence[CriterionDraft], refuse: Callable[[str, str], None]) -> None:
    if not 1 <= len(criteria) <= MAX_CRITERIA:
        refuse("criteria", f"Found {len(criteria)} criteria; accepted: 1 to {MAX_CRITERIA}.")
    names = [criterion.name for criterion in criteria]
    for criterion in criteria:
        label = f"Criterion {criterion.name!r}"
        points = criterion.scale_max - criterion.scale_min + 1
        if not NAME.fullmatch(criterion.name):
            refuse("criteria", f"{label}: accepted as a name: up to 60 letters, digits, hyphens and underscores.")
        if names.count(criterion.name) > 1:
            refuse("criteria", f"{label} is there twice; each needs a name of its own.")
        if not criterion.question.strip():
            refuse("criteria", f"{label} asks no question.")
        if len(criterion.question) > 300:
            refuse("criteria", f"{label}: its question has {len(criterion.question)} characters; accepted: up to 300.")
        if not -1000 <= criterion.scale_min <= 1000:
            refuse("criteria", f"{label}: its scale begins at {criterion.scale_min}; accepted: -1000 to 1000.")
        if not 2 <= points <= MAX_POINTS:
            refuse(
                "criteria",
                f"{label}: its scale goes from {criterion.scale_min} to {criterion.scale_max}; "
                f"accepted: 2 to {MAX_POINTS} points, from low to high.",
            )
        elif criterion.labels and len(criterion.labels) != points:
            refuse(
                "criteria",
                f"{label}: found {len(criterion.labels)} labels for {points} points; accepted: none, or one per point.",
            )
