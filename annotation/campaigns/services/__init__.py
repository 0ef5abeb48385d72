"""Campaigns: drafted, checked, launched once with the design frozen, paused, resumed, closed; copied and compared."""

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.services.campaigns.copies import campaign_clone, campaign_import, campaign_read, free_name
from annotation.services.campaigns.drafts import draft_of
from annotation.services.campaigns.imagining import campaign_imagined
from annotation.services.campaigns.lifecycle import (
    campaign_close,
    campaign_launch,
    campaign_pause,
    campaign_resume,
)
from annotation.services.campaigns.readiness import LaunchReport, Remark, launch_report
from annotation.services.campaigns.scales import MAX_CRITERIA
from annotation.services.campaigns.starting import campaign_start, template_draft
from annotation.services.campaigns.validation import draft_problems
from annotation.services.campaigns.writing import campaign_change, campaign_create, campaign_update

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
