"""Who is better by the raters, on the front page: the sentence of each campaign that compares systems."""

from collections.abc import Iterator

from django.urls import reverse

from annotation.models import CampaignState, Project
from annotation.overview.registry import Finding, register
from annotation.results.selectors.campaigns import headline, rated_campaigns

MOST = 3  # campaigns that are read, newest first


def verdicts(project: Project, most: int) -> Iterator[Finding]:
    """Yield what raters say of the systems; the newest campaign's verdict leads the page."""
    for campaign in rated_campaigns(project)[: min(most, MOST)]:
        found = headline(campaign)
        if found is None:
            continue
        newest = campaign.ratings.order_by("-pk").values_list("created_at", flat=True)[0]
        at = campaign.closed_at if campaign.state == CampaignState.CLOSED and campaign.closed_at else newest
        url = reverse("annotation:campaign-results", args=[project.slug, campaign.pk])
        yield Finding("Raters", at, found.text, found.basis, url, leads=True)


register(findings=[verdicts])
