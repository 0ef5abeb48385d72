"""Who is better by the raters, on the front page: the sentence of each campaign that compares systems."""

from collections.abc import Iterator

from django.urls import reverse

from annotation.models import CampaignState, Project
from annotation.overview.registry import Finding, register
from annotation.results.selectors.campaigns import headline, rated_campaigns

MOST = 3  # campaigns that are read, newest first


def verdicts(project: Project, most: int) -> Iterator[Finding]:
    """Yield what raters say of the systems. The newest verdict leads the page, of certain ones if there are any."""
    read = [(campaign, headline(campaign)) for campaign in rated_campaigns(project)[: min(most, MOST)]]
    found_any = [(campaign, found) for campaign, found in read if found]
    is_any_certain = any(found.is_certain for _, found in found_any)
    for campaign, found in found_any:
        newest = campaign.ratings.order_by("-pk").values_list("created_at", flat=True)[0]
        at = campaign.closed_at if campaign.state == CampaignState.CLOSED and campaign.closed_at else newest
        url = reverse("annotation:campaign-results", args=[project.slug, campaign.pk])
        basis = f"{found.basis} in “{campaign.name}”"
        yield Finding("Raters", at, found.text, basis, url, leads=found.is_certain or not is_any_certain)


register(findings=[verdicts])
