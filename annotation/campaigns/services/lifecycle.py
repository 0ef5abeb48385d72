"""Launch a campaign once with its design frozen; pause, resume and close it."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now

from annotation.campaigns.selectors import slots_unfilled
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.gate import campaign_alone
from annotation.campaigns.services.launch import design_freeze, units_create
from annotation.campaigns.services.problems import refusal
from annotation.campaigns.services.validation import launch_problems
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.models import Campaign, CampaignState, User
from annotation.projects.services.audit import audit_record


@transaction.atomic
def campaign_launch(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Plan the units with k slots each, freeze and hash the design, and open the campaign for raters."""
    campaign = campaign_alone(campaign.pk)
    if campaign.imported:
        raise AnnotationError("The ratings of this campaign were collected elsewhere: there is nothing to launch.")
    if campaign.state != CampaignState.DRAFT:
        raise AnnotationError(f"The campaign is {campaign.get_state_display().lower()}: only a draft can be launched.")
    if problems := launch_problems(campaign, draft_of(campaign)):  # its data set may have changed since
        raise refusal(problems)
    plan = units_create(campaign)
    campaign.design, campaign.design_hash = design_freeze(campaign, plan)
    campaign.state = CampaignState.RUNNING
    campaign.launched_at = Now()
    campaign.save()
    campaign.refresh_from_db()
    units = len(plan.units)
    audit_record(
        verb="campaign.launch",
        summary=f"Launched “{campaign.name}”: {units:,} items, {campaign.ratings_per_unit} ratings of each.",
        campaign=campaign,
        by=by,
        data={"units": units, "slots": units * campaign.ratings_per_unit, "design_hash": campaign.design_hash},
    )
    return campaign


def campaign_pause(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Hand out nothing more. Raters may still submit the units that they hold."""
    return _change(campaign, [CampaignState.RUNNING], CampaignState.PAUSED, by, "campaign.pause", "Paused")


def campaign_resume(*, campaign: Campaign, by: User | None = None) -> Campaign:
    return _change(campaign, [CampaignState.PAUSED], CampaignState.RUNNING, by, "campaign.resume", "Resumed")


def campaign_close(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Close the campaign for good: later ratings are refused, also of units that raters still hold."""
    open_states = [CampaignState.RUNNING, CampaignState.PAUSED]
    return _change(campaign, open_states, CampaignState.CLOSED, by, "campaign.close", "Closed")


def _change(
    campaign: Campaign, accepted: Sequence[CampaignState], to: CampaignState, by: User | None, verb: str, done: str
) -> Campaign:
    with transaction.atomic():
        campaign = campaign_alone(campaign.pk)
        if campaign.state not in accepted:
            raise AnnotationError(
                f"The campaign is {campaign.get_state_display().lower()}; to become {to.label.lower()} it must be "
                f"{' or '.join(state.label.lower() for state in accepted)}."
            )
        before, campaign.state = campaign.state, to
        data: dict[str, object] = {"from": before}
        summary = f"{done} “{campaign.name}”."
        if to == CampaignState.CLOSED:
            campaign.closed_at = Now()
            data["slots_unfilled"] = n_unfilled = slots_unfilled(campaign)
            summary += f" {counted(n_unfilled, 'slot')} not filled." if n_unfilled else ""
        campaign.save(update_fields=["state", "closed_at"])
        audit_record(verb=verb, summary=summary, campaign=campaign, by=by, data=data)
    campaign.refresh_from_db()
    return campaign
