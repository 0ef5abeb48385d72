"""Campaigns on the front page: how far they are, what they wait for, and how far their raters agree."""

import math
from collections.abc import Iterator

from django.db.models import Count
from django.urls import reverse
from django.utils.timezone import localtime, now

from annotation.campaigns.selectors import unfilled
from annotation.campaigns.services.readiness import launch_report
from annotation.core.numbers import counted
from annotation.models import Campaign, CampaignState, Project, Submission, SubmissionStatus
from annotation.overview.registry import Finding, Need, Running, register
from annotation.quality.selectors.amendments import slot_counts
from annotation.quality.selectors.monitoring.live import campaign_statistics, is_large, pace
from annotation.quality.selectors.raters import moment
from annotation.quality.selectors.suspects import suspects

AT_WORK = (CampaignState.RUNNING, CampaignState.PAUSED)
MOST = 3  # campaigns that are looked at in detail, newest first
CLOSE_TO_END = 24 * 3600  # seconds from which an end is written as a day


def at_work(project: Project) -> list[Campaign]:
    return list(project.campaigns.filter(state__in=AT_WORK, imported=False).order_by("-launched_at")[:MOST])


def running_campaigns(project: Project) -> Iterator[Running]:
    for campaign in at_work(project):
        slots = slot_counts(campaign)
        rest = pace(campaign, slots.planned - slots.done)
        url = reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])
        note = "paused" if campaign.state == CampaignState.PAUSED else "no ratings in the last hour"
        if rest:
            note = f"{rest.per_hour:,.0f} items per hour"
            if rest.end and slots.done < slots.planned:
                far = (rest.end - now()).total_seconds() > CLOSE_TO_END
                note += f", done about {localtime(rest.end):{'%-d %B' if far else '%H:%M'}}"
        yield Running(campaign.launched_at, campaign.name, url, slots.done, slots.planned, note)  # type: ignore[arg-type]


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
    for campaign in at_work(project):
        slots = slot_counts(campaign)
        left = slots.planned - slots.done
        url = reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])
        if slots.planned and left <= 0:
            yield Need(campaign.launched_at, f"“{campaign.name}” is complete, but not closed.", "Close it", url)  # type: ignore[arg-type]
        elif left > 0 and (stays := unfilled(campaign, left)) and stays.raters and stays.new:
            text = f"“{campaign.name}” needs a new rater: {counted(stays.new, 'slot')} can be filled by no other."
            yield Need(campaign.launched_at, text, "Invite one", url)  # type: ignore[arg-type]


def raters_to_decide(project: Project) -> Iterator[Need]:
    """Yield campaigns with raters who stand out. Large ones are left to their quality page, which takes a while."""
    for campaign in at_work(project):
        n = 0 if is_large(campaign) else len(suspects(campaign).reasons)
        if n:
            stand = "stands" if n == 1 else "stand"
            yield Need(
                campaign.launched_at,  # type: ignore[arg-type]
                f"{counted(n, 'rater')} of “{campaign.name}” {stand} out and may not have worked with care.",
                "Decide",
                reverse("annotation:campaign-quality", args=[project.slug, campaign.pk]),
            )


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
        interval = "" if math.isnan(alpha.low) else f" [{alpha.low:.2f}, {alpha.high:.2f}]"
        yield Finding(
            "Campaign",
            campaign.closed_at,  # type: ignore[arg-type] # closed ones have a time
            f"“{campaign.name}” is closed: its raters agree{about} with α\u00a0=\u00a0{alpha.alpha:.2f}{interval}.",
            f"{counted(statistics.n_judgements, 'judgement')} of {counted(statistics.n_raters, 'rater')}",
            reverse("annotation:campaign-detail", args=[project.slug, campaign.pk]),
        )


register(findings=[agreement], needs=[drafts, to_close, raters_to_decide, submissions])
