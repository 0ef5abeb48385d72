"""Campaigns: drafted, checked, launched once with the design frozen, paused, resumed, closed; copied and compared."""

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.copies import campaign_clone, campaign_import, campaign_read, free_name
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.imagining import campaign_imagined
from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch, campaign_pause, campaign_resume
from annotation.campaigns.services.readiness import LaunchReport, Remark, launch_report
from annotation.campaigns.services.scales import MAX_CRITERIA
from annotation.campaigns.services.starting import campaign_start, template_draft
from annotation.campaigns.services.validation import draft_problems
from annotation.campaigns.services.writing import campaign_change, campaign_create, campaign_update

__all__ = [
    "MAX_CRITERIA",
    "CampaignDraft",
    "CriterionDraft",
    "LaunchReport",
    "Remark",
    "campaign_change",
    "campaign_clone",
    "campaign_close",
    "campaign_create",
    "campaign_imagined",
    "campaign_import",
    "campaign_launch",
    "campaign_pause",
    "campaign_read",
    "campaign_resume",
    "campaign_start",
    "campaign_update",
    "draft_of",
    "draft_problems",
    "free_name",
    "launch_report",
    "template_draft",
]
