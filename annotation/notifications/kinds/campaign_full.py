"""A campaign has all planned ratings."""

from django.urls import reverse

from annotation.notifications.kinds.base import Kind

CAMPAIGN_FULL = Kind(
    key="campaign_full",
    label="A campaign is full",
    when="Its last planned rating has arrived: close it, or raise the number of ratings.",
    title=lambda facts: f"“{facts['campaign']}” is full",
    text=lambda facts: f"The campaign “{facts['campaign']}” has all of its {facts['slots']:,} planned ratings.",
    link=lambda facts: reverse("annotation:campaign-detail", args=[facts["project"], facts["campaign_pk"]]),
)
