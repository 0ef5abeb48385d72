"""Create and change drafts. The design of a launched campaign is frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.campaigns.design.naming import name_as_shown
from annotation.campaigns.design.questionnaire import Questionnaire
from annotation.campaigns.design.scale_words import followed, rewritten
from annotation.campaigns.fields.table import CampaignDraft
from annotation.campaigns.questions import READY_MADE
from annotation.campaigns.services.drafts import changed_fields, criteria_rows, draft_of, write_columns
from annotation.campaigns.services.gate import campaign_alone
from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.problems import refusal
from annotation.campaigns.services.validation import draft_problems, draft_validate, name_taken
from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.races import is_kept, refused_if_taken
from annotation.models import AuditEntry, Campaign, CampaignState, Criterion, Project, Target, User
from annotation.projects.services.audit import audit_record, who_made

CHANGE = "campaign.update"  # the verb of a draft's changes in the audit log


@transaction.atomic
def campaign_create(*, project: Project, draft: CampaignDraft, by: User | None = None) -> Campaign:
    draft_validate(project, draft)
    campaign = _store(Campaign(project=project), draft)
    audit_record(verb="campaign.create", summary=f"Drafted “{campaign.name}”.", campaign=campaign, by=by)
    return campaign


@transaction.atomic
def campaign_update(
    *, campaign: Campaign, draft: CampaignDraft, based_on: int | None = None, by: User | None = None
) -> Campaign:
    """Replace a draft. A launched campaign's design is frozen.

    ``based_on`` is the ``draft_version`` that the new draft was made from. If the stored draft has another one, it is
    not replaced.
    """
    campaign = draft_locked(campaign)
    if based_on is not None and based_on != campaign.draft_version:
        entry = draft_changes(campaign).first()
        last = f" {who_made(entry, by)} changed it last: {entry.summary}" if entry else ""
        raise Overtaken(
            f"The draft has version {campaign.draft_version}; yours is based on version {based_on}.{last} "
            "Nothing was saved. Read the draft again, and send its draft_version with your changes."
        )
    draft_validate(campaign.project, draft, campaign=campaign)
    return _replace(campaign, draft, by)


@transaction.atomic
def campaign_change(
    *,
    campaign: Campaign,
    changes: Mapping[str, Any],
    settle: Sequence[str],
    leave: Sequence[str] = (),
    seen: int | None = None,
    by: User | None = None,
) -> Campaign:
    """Change some fields of a draft, as one step of its design does.

    Mistakes below the paths in ``settle``, unless below those in ``leave``, are refused. Others stay until the launch.
    Instructions that describe the scale follow when it changes, and a name that says how texts are shown with that.
    With ``seen``, the ``draft_version`` that the user saw, a change that another user saved since is not overwritten.
    """
    campaign = draft_locked(campaign)
    if seen is not None:
        _check_unchanged(campaign, seen, by)
    before = draft_of(campaign)
    draft = replace(before, **changes)
    problems = draft_problems(campaign.project, draft, campaign=campaign)
    settled = {path: texts for path, texts in problems.items() if _is_below(path, settle)}
    if refused := {path: texts for path, texts in settled.items() if not _is_below(path, leave)}:
        raise refusal(refused)
    if "criteria" in changes and "instructions" not in changes:
        draft = replace(draft, instructions=followed(draft.instructions, before.criteria, draft.criteria))
    if draft.name == before.name:
        name = name_as_shown(draft.name, before.presentation, draft.presentation)
        draft = draft if name == draft.name else replace(draft, name=reserved_name(campaign.project, name))
    return _replace(campaign, draft, by)


@transaction.atomic
def instructions_follow(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Write the scale, as it is now, into the instructions."""
    campaign = draft_locked(campaign)
    draft = draft_of(campaign)
    changes = {"instructions": rewritten(draft.instructions, draft.criteria)}
    return campaign_change(campaign=campaign, changes=changes, settle=["instructions"], by=by)


@transaction.atomic
def question_add(*, campaign: Campaign, name: str, by: User | None = None) -> Campaign:
    """Add a ready-made question to those that raters are asked about themselves."""
    campaign = draft_locked(campaign)
    stored = Questionnaire.lenient(campaign.questions)
    questions = replace(stored, questions=(*stored.questions, READY_MADE[name])).to_dict()
    return campaign_change(campaign=campaign, changes={"questions": questions}, settle=["questions"], by=by)


def draft_changes(campaign: Campaign) -> QuerySet[AuditEntry]:
    """Return the recorded changes of the draft, newest first."""
    return campaign.audit_entries.filter(verb=CHANGE).select_related("actor").order_by("-pk")


def _check_unchanged(campaign: Campaign, seen: int, by: User | None) -> None:
    if entry := draft_changes(campaign).filter(data__draft_version__gt=seen).exclude(actor=by).first():
        raise Overtaken(
            f"{who_made(entry, by)} saved this draft after you opened the page: {entry.summary} "
            "Yours is not saved yet. Save again to replace the same fields, or reload the page to see that change."
        )


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(f"{root}.") for root in roots)


def draft_locked(campaign: Campaign) -> Campaign:
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
    campaign.draft_version += 1
    campaign = _store(campaign, draft)
    words = ", ".join(name.replace("_", " ") for name in changed)
    audit_record(
        verb=CHANGE,
        summary=f"Changed the draft “{campaign.name}”: {words}.",
        campaign=campaign,
        by=by,
        data={"fields": changed, "draft_version": campaign.draft_version},
    )
    return campaign


def _store(campaign: Campaign, draft: CampaignDraft) -> Campaign:
    write_columns(campaign, draft)
    if draft.response_list is not None and not is_kept(draft.response_list):
        message = f"The list “{draft.response_list}” was deleted just now; accepted: another list."
        raise AnnotationError.at("response_list", message)
    with refused_if_taken("campaign_name_once_per_project", AnnotationError.at("name", name_taken(draft.name))):
        campaign.save()
    campaign.systems.set(draft.systems if draft.target == Target.CHOSEN else [])
    campaign.criteria.all().delete()
    Criterion.objects.bulk_create(criteria_rows(campaign, draft.criteria))
    campaign.refresh_from_db()
    return campaign
