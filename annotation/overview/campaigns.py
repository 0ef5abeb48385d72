"""Campaigns on the front page: how far they are, what they wait for, and how far their raters agree."""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max
from django.urls import reverse
from django.utils.timezone import now

from annotation.campaigns.selectors import Unfilled, unfilled
from annotation.campaigns.services.readiness import launch_report
from annotation.core.caching import cached
from annotation.core.numbers import counted, decimals
from annotation.models import Campaign, CampaignState, Project, Submission, SubmissionStatus
from annotation.overview.closing import replace_text, replace_url
from annotation.overview.registry import Finding, Need, Running, register
from annotation.quality.selectors.amendments import slot_counts
from annotation.quality.selectors.decisions import replaceable
from annotation.quality.selectors.monitoring.live import active_raters, campaign_statistics, is_large, pace
from annotation.quality.selectors.monitoring.statistics import Statistics
from annotation.quality.selectors.raters import moment
from annotation.quality.selectors.suspects import suspects

AT_WORK = (CampaignState.RUNNING, CampaignState.PAUSED)
MOST = 3  # campaigns that are looked at in detail, newest first
SUSPECTS_SECONDS = 300  # they cost a second while raters are at work


class AtWork(NamedTuple):
    """A launched campaign that is not closed, with its slots and who could fill the rest."""

    campaign: Campaign
    at: datetime
    url: str
    done: int
    planned: int
    left: Unfilled | None
    left_out: int = 0  # slots that excluded raters have filled

    @property
    def is_complete(self) -> bool:
        return self.is_filled and not self.left_out

    @property
    def is_filled(self) -> bool:
        return self.planned > 0 and self.done >= self.planned


def at_work(project: Project) -> list[AtWork]:
    """Return the newest ones; read once for a page, whose sources share them."""
    if "campaigns_at_work" not in project.__dict__:
        campaigns = project.campaigns.filter(state__in=AT_WORK, imported=False).order_by("-launched_at")[:MOST]
        project.__dict__["campaigns_at_work"] = list(map(_at_work, campaigns))
    rows: list[AtWork] = project.__dict__["campaigns_at_work"]
    return rows


def _at_work(campaign: Campaign) -> AtWork:
    slots = slot_counts(campaign)
    left = max(slots.planned - slots.done, 0)
    url = reverse("annotation:campaign-detail", args=[campaign.project.slug, campaign.pk])
    at = campaign.launched_at or now()
    unfilled_slots = unfilled(campaign, left) if left else None
    return AtWork(campaign, at, url, slots.done, slots.planned, unfilled_slots, replaceable(campaign).count())


def running_campaigns(project: Project) -> Iterator[Running]:
    for campaign, at, url, done, planned, left, left_out in at_work(project):
        rest = pace(campaign, planned - done, active_raters(campaign))
        note = "paused" if campaign.state == CampaignState.PAUSED else "no ratings in the last hour"
        if rest:
            note = f"{rest.per_hour:,.0f} items per hour"
            if rest.is_extrapolated:
                note += f", {rest.rests_on}"
            if rest.is_idle and planned > done:
                note += ", no rater is active now"
        if left_out:
            note = f"{left_out:,} of excluded raters {'does' if left_out == 1 else 'do'} not count, {note}"
        end = rest.end if rest and left and left.can_end else None
        yield Running(at, campaign.name, url, done, planned, note, end)


def drafts(project: Project) -> Iterator[Need]:
    """Yield drafts that have problems, or could be launched."""
    for campaign in project.campaigns.filter(state=CampaignState.DRAFT).order_by("-pk")[:MOST]:
        n_problems = len(launch_report(campaign).problems)
        url = reverse("annotation:campaign-step", args=[project.slug, campaign.pk, "review"])
        if n_problems:
            text = f"The draft “{campaign.name}” cannot be launched yet: {counted(n_problems, 'problem')} left."
            yield Need(campaign.created_at, text, "Review it", url)
        else:
            yield Need(campaign.created_at, f"The draft “{campaign.name}” is ready to be launched.", "Launch it", url)


def to_close(project: Project) -> Iterator[Need]:
    """Yield campaigns whose slots are all filled, or that no rater who joined can go on with."""
    for row in at_work(project):
        campaign, left = row.campaign, row.left
        if row.is_complete:
            text = f"“{campaign.name}” has all its ratings, but is not closed: its link leads to nothing more to rate."
            yield Need(row.at, text, "Open the campaign to close it", row.url)
        elif row.is_filled:
            yield Need(row.at, f"“{campaign.name}”: {replace_text(row.left_out)}", "Reopen", replace_url(campaign))
        elif left and left.raters and left.new:
            text = f"“{campaign.name}” needs a new rater: {counted(left.new, 'slot')} can be filled by no other."
            yield Need(row.at, text, "Invite one", row.url)


def raters_to_decide(project: Project) -> Iterator[Need]:
    """Yield campaigns with raters who stand out. Large ones are left to their quality page, which takes a while."""
    for campaign, at, *_ in at_work(project):
        n = 0 if is_large(campaign) else _n_suspects(campaign)
        if n:
            found = "stands out" if n == 1 else "stand out"
            text = f"{counted(n, 'rater')} of “{campaign.name}” {found} and may not have worked with care."
            url = reverse("annotation:campaign-quality-rules", args=[project.slug, campaign.pk])
            yield Need(at, text, "See the rule that would exclude", f"{url}?suggested=1")


def _n_suspects(campaign: Campaign) -> int:
    """Return how many raters stand out, as of some minutes ago, but never before the last decision."""
    decision = campaign.decisions.aggregate(last=Max("pk"))["last"]
    key = f"front-suspects-{campaign.pk}-{decision}"
    return cached(key, lambda: len(suspects(campaign).reasons), SUSPECTS_SECONDS)


def submissions(project: Project) -> Iterator[Need]:
    """Yield recruitments with submissions that wait for approval."""
    waiting = Submission.objects.filter(recruitment__campaign__project=project, status=SubmissionStatus.AWAITING)
    rows = waiting.order_by().values_list(
        "recruitment", "recruitment__campaign", "recruitment__campaign__name", "recruitment__created_at"
    )
    for pk, campaign, name, at, n in rows.annotate(n=Count("pk")).order_by("-recruitment")[:MOST]:
        wait = "waits" if n == 1 else "wait"
        yield Need(
            at,
            f"{counted(n, 'submission')} to “{name}” {wait} for approval.",
            "Review",
            reverse("annotation:campaign-recruitment", args=[project.slug, campaign, pk]),
        )


def agreement(project: Project, most: int) -> Iterator[Finding]:
    """Yield how far the raters of closed campaigns agree, from the statistics that the monitor shows."""
    closed = project.campaigns.filter(state=CampaignState.CLOSED).order_by("-closed_at", "-pk")
    for campaign in closed[: min(most, MOST)]:
        statistics, _ = campaign_statistics(campaign, moment(campaign))
        known = [each for each in statistics.criteria if not math.isnan(each.alpha.alpha)] if statistics else []
        if statistics is None or not known:
            continue
        alpha = known[0].alpha
        about = f" on {known[0].name}" if len(statistics.criteria) > 1 else ""
        interval = "" if math.isnan(alpha.low) else f" [{decimals(alpha.low)}, {decimals(alpha.high)}]"
        agree = f"α\u00a0=\u00a0{decimals(alpha.alpha)}{interval}"
        yield Finding(
            "Campaign",
            campaign.closed_at,  # type: ignore[arg-type] # closed ones have a time
            f"The campaign is closed: its raters agree{about} with {agree}.",
            _counted_work(campaign, statistics),
            reverse("annotation:campaign-detail", args=[project.slug, campaign.pk]),
            about=campaign.name,
        )


def _counted_work(campaign: Campaign, statistics: Statistics) -> str:
    """Say what counts, in ratings and in answers, and whose answers do not."""
    ratings, answers = counted(statistics.n_ratings, "rating"), counted(statistics.n_answers, "answer")
    raters = "raters who are not known" if campaign.unknown_raters else counted(statistics.n_raters, "rater")
    work = f"{ratings} in {answers} of {raters}"
    if not statistics.n_excluded_raters:
        return work
    return f"{work}, without {counted(statistics.n_excluded_raters, 'excluded rater')}"


register(findings=[agreement], needs=[drafts, to_close, raters_to_decide, submissions])
