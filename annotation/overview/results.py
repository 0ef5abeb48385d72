"""Who is better by the raters, on the front page: the sentence of each campaign that compares systems."""

from collections.abc import Iterator
from math import isnan

from django.urls import reverse

from annotation.core.numbers import decimals
from annotation.models import CampaignState, Project
from annotation.overview.registry import Bar, Finding, Picture, register
from annotation.results.selectors.campaigns import headline, rated_campaigns
from annotation.results.selectors.leading import leading
from annotation.results.selectors.notes import rank_note
from annotation.results.selectors.verdicts import CriterionVerdict

MOST_BARS = 8
MOST, MOST_READ = 3, 12  # verdicts, and campaigns that are read for them, newest first


def verdicts(project: Project, most: int) -> Iterator[Finding]:
    """Yield what raters say of the systems: the verdict that leads the page, and the newest others.

    One with a certain difference leads, of several the one of most ratings, whenever they were made.
    """
    read = ((campaign, headline(campaign)) for campaign in rated_campaigns(project)[:MOST_READ])
    found_all = [(campaign, found) for campaign, found in read if found]
    if not found_all:
        return
    lead = max(found_all, key=lambda each: (each[1].is_certain, each[1].ratings))
    others = [each for each in found_all if each is not lead]
    for campaign, found in [lead, *others][: min(most, MOST)]:
        newest = campaign.ratings.order_by("-pk").values_list("created_at", flat=True)[0]
        at = campaign.closed_at if campaign.state == CampaignState.CLOSED and campaign.closed_at else newest
        url = reverse("annotation:campaign-results", args=[project.slug, campaign.pk])
        drawn, leads = picture(found.verdict), found is lead[1]
        yield Finding("Raters", at, found.text, found.basis, url, leads=leads, about=campaign.name, picture=drawn)


def picture(verdict: CriterionVerdict) -> Picture | None:
    """Return the systems as the results have them, with their intervals; None where their means are undefined."""
    known = [each for each in verdict.systems if not isnan(each.estimate)]
    if len(known) < 2:
        return None
    shown, found = known[:MOST_BARS], leading(verdict)
    ends = [(each.estimate, each.estimate) if isnan(each.low) else (each.low, each.high) for each in shown]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if verdict.by_means and verdict.scale_low is not None and verdict.scale_high is not None:
        low, high = min(low, verdict.scale_low), max(high, verdict.scale_high)  # of the whole scale, as the title says
    span = (high - low) or 1.0
    bars = [
        Bar(
            each.name,
            decimals(each.estimate),
            "" if isnan(each.low) else f"[{decimals(each.low)}, {decimals(each.high)}]",
            found.standing(each.name),
            start=round(100 * (start - low) / span, 2),
            width=round(100 * (end - start) / span, 2),
            at=round(100 * (each.estimate - low) / span, 2),
        )
        for each, (start, end) in zip(shown, ends, strict=True)
    ]
    what = f"Mean of {verdict.criterion} {verdict.of_means}".strip() if verdict.by_means else "Strength"
    return Picture(f"{what}, with 95% intervals", bars, len(known) - len(shown), rank_note(verdict))


register(findings=[verdicts])
