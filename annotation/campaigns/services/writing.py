"""Create and change drafts. The design of a launched campaign is frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction

from annotation.campaigns.fields.table import CampaignDraft
from annotation.campaigns.services.drafts import changed_fields, criteria_rows, draft_of, write_columns
from annotation.campaigns.services.gate import campaign_alone
from annotation.campaigns.services.problems import refusal
from annotation.campaigns.services.validation import draft_problems, draft_validate, name_taken
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Criterion, Project, Target, User
from annotation.projects.services.audit import audit_record


@transaction.atomic
def campaign_create(*, project: Project, draft: CampaignDraft, by: User | None = None) -> Campaign:
    draft_validate(project, draft)
    campaign = _store(Campaign(project=project), draft)
    audit_record(verb="campaign.create", summary=f"Drafted “{campaign.name}”.", campaign=campaign, by=by)
    return campaign


@transaction.atomic
def campaign_update(*, campaign: Campaign, draft: CampaignDraft, by: User | None = None) -> Campaign:
    """Replace a draft. A launched campaign's design is frozen."""
    campaign = _locked_draft(campaign)
    draft_validate(campaign.project, draft, campaign=campaign)
    return _replace(campaign, draft, by)


@transaction.atomic
def campaign_change(
    *,
    campaign: Campaign,
    changes: Mapping[str, Any],
    settle: Sequence[str],
    leave: Sequence[str] = (),
    by: User | None = None,
) -> Campaign:
    """Change some fields of a draft, as one step of its design does.

    Mistakes below the paths in ``settle``, unless below those in ``leave``, are refused. Others stay until the launch.
    """
    campaign = _locked_draft(campaign)
    draft = replace(draft_of(campaign), **changes)
    problems = draft_problems(campaign.project, draft, campaign=campaign)
    settled = {path: texts for path, texts in problems.items() if _is_below(path, settle)}
    if refused := {path: texts for path, texts in settled.items() if not _is_below(path, leave)}:
        raise refusal(refused)
    return _replace(campaign, draft, by)


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(f"{root}.") for root in roots)


def _locked_draft(campaign: Campaign) -> Campaign:
    campaign = campaign_alone(campaign.pk)
    if campaign.state != CampaignState.DRAFT:
        raise AnnotationError(
            f"The campaign is {campaign.get_state_display().lower()}: its design was frozen at launch. "
            "Only a draft can be edited."
        )
    return campaign


def _replace(campaign: Campaign, draft: CampaignDraft, by: User | None) -> Campaign:
    changed = changed_fields(draft_of(campaign), draft)
    if not changed:
        return campaign
    campaign = _store(campaign, draft)
    words = ", ".join(name.replace("_", " ") for name in changed)
    audit_record(
        verb="campaign.update",
        summary=f"Changed the draft “{campaign.name}”: {words}.",
        campaign=campaign,
        by=by,
        data={"fields": changed},
    )
    return campaign


def _store(campaign: Campaign, draft: CampaignDraft) -> Campaign:
    write_columns(campaign, draft)
    try:
        with transaction.atomic():
            campaign.save()
    except IntegrityError as error:  # another request took the name since it was checked
        if "campaign_name_once_per_project" not in str(error):
            raise
        raise AnnotationError.at("name", name_taken(draft.name)) from error
    campaign.systems.set(draft.systems if draft.target == Target.CHOSEN else [])
    campaign.criteria.all().delete()
    Criterion.objects.bulk_create(criteria_rows(campaign, draft.criteria))
    campaign.refresh_from_db()
    return campaign
