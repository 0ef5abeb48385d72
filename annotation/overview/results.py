"""Who is better by the raters, on the front page: the sentence of each campaign that compares systems."""

from collections.abc import Iterator
from itertools import islice

from django.urls import reverse

from annotation.models import CampaignState, Project
from annotation.overview.registry import Finding, register
from annotation.results.selectors.campaigns import headline, rated_campaigns

MOST, MOST_READ = 3, 12  # verdicts, and campaigns that are read for them, newest first


def verdicts(project: Project, most: int) -> Iterator[Finding]:
    """Yield what raters say of the systems. The newest verdict leads the page, of certain ones if there are any."""
    read = ((campaign, headline(campaign)) for campaign in rated_campaigns(project)[:MOST_READ])
    found_any = list(islice(((campaign, found) for campaign, found in read if found), min(most, MOST)))
    is_any_certain = any(found.is_certain for _, found in found_any)
    for campaign, found in found_any:
        newest = campaign.ratings.order_by("-pk").values_list("created_at", flat=True)[0]
        at = campaign.closed_at if campaign.state == CampaignState.CLOSED and campaign.closed_at else newest
        url = reverse("annotation:campaign-results", args=[project.slug, campaign.pk])
        basis = f"{found.basis} in “{campaign.name}”"
        yield Finding("Raters", at, found.text, basis, url, leads=found.is_certain or not is_any_certain)


register(findings=[verdicts])
