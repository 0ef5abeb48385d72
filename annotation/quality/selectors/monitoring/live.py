"""The monitor: counts of this moment, and statistics, which a worker computes for large campaigns."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.cache import cache
from django.db.models import Exists, F, Max, OuterRef, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from annotation.campaigns.selectors import Unfilled, unfilled
from annotation.core import sql
from annotation.core.numbers import counted
from annotation.models import (
    Amendment,
    Campaign,
    CampaignSnapshot,
    CampaignState,
    Comment,
    RaterDecision,
    Rating,
    Slot,
    SlotState,
)
from annotation.quality.selectors.amendments import SlotCounts, slot_counts
from annotation.quality.selectors.decisions import replaceable
from annotation.quality.selectors.monitoring.statistics import Statistics, compute_statistics, cost
from annotation.quality.selectors.monitoring.stored import revived, shape
from annotation.quality.selectors.raters import CACHE_SECONDS, Moment, moment, stage_counts
from annotation.weighting.intervals import wilson_interval

ACTIVE_MINUTES = 5
PACE_HOURS = 1
BUSY_SECONDS = 15
COMMENTS = 5
SYNCHRONOUS = 20_000  # ratings up to which statistics are computed while a page waits
SNAPSHOT_SECONDS = 60  # a worker computes a campaign's statistics at most this often


@dataclass(frozen=True)
class Pace:
    """Items answered in the last hour, and when the rest will be done at that pace; None without an active rater."""

    screens: int
    hours: float
    end: datetime | None
    is_idle: bool  # the campaign is running, and no rater is active

    @property
    def per_hour(self) -> float:
        return self.screens / self.hours

    @property
    def is_extrapolated(self) -> bool:
        return self.hours < PACE_HOURS

    @property
    def rests_on(self) -> str:
        """Say what the pace is taken from: with less than an hour since launch it is extrapolated."""
        items = counted(self.screens, "item")
        if not self.is_extrapolated:
            return f"{items} in the last hour"
        return f"extrapolated from {items} in {counted(max(round(self.hours * 60), 1), 'minute')}"


@dataclass(frozen=True)
class Spend:
    """Costs in the campaign's currency; ``total`` expects checks to stay as frequent as they were."""

    screens: int
    pay: Decimal
    with_fee: Decimal
    total: Decimal | None


@dataclass(frozen=True)
class Qualification:
    """How many raters are in each stage, and the share that passed of those who finished the test."""

    training: int
    test: int
    work: int
    failed: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Monitor:
    campaign: Campaign
    slots_total: int
    slots_done: int
    slots_leased: int
    raters_active: int
    figures: Statistics | None  # None until a worker has computed them
    computed_at: datetime | None  # by a worker; None if computed now
    now: Moment
    pace: Pace | None
    spend: Spend | None
    qualification: Qualification | None
    comments: list[Comment]
    unfilled: Unfilled | None = None  # None if nothing is handed out any more, or very much is left
    left_out: int = 0  # slots that excluded raters have filled
    raters_joined: int = 0  # also those who have rated nothing, or are excluded

    @property
    def live(self) -> bool:
        return (self.campaign.state == "running" and not self.campaign.imported) or self.figures is None

    @property
    def percent_done(self) -> float:
        return 100 * self.slots_done / self.slots_total if self.slots_total else 0.0

    @property
    def behind(self) -> bool:
        """Return whether answers have arrived since the statistics were computed."""
        return self.figures is not None and self.figures.version != self.now.version

    @property
    def figures_version(self) -> str:
        """Return a text that changes when the statistics do."""
        return self.figures.version if self.figures else "none"

    @property
    def version(self) -> str:
        """Return a text that changes when anything shown does."""
        parts = (
            self.now.version,
            self.figures_version,
            self.slots_total,
            self.slots_done,
            self.slots_leased,
            self.raters_active,
            self.raters_joined,
            self.campaign.state,
            f"{self.unfilled.new}.{self.unfilled.skipped}" if self.unfilled else "",
        )
        return "-".join(map(str, parts))


def campaign_monitor(campaign: Campaign) -> Monitor:
    """Return the state of a campaign now."""
    at = moment(campaign)
    statistics, computed_at = campaign_statistics(campaign, at)
    if campaign.imported:
        return Monitor(campaign, 0, 0, 0, 0, statistics, computed_at, at, None, None, None, [])
    slots = slot_counts(campaign)
    leased = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    large = statistics is None or computed_at is not None
    active, pace = _busy(campaign, slots.planned - slots.done, large=large)
    n_left = max(slots.planned - slots.done, 0)
    left = (
        _left(campaign, n_left, slots.planned, large=large)
        if n_left and campaign.state != CampaignState.CLOSED
        else None
    )
    if pace and left and not left.can_end:
        pace = replace(pace, end=None)
    return Monitor(
        campaign=campaign,
        slots_total=slots.planned,
        slots_done=slots.done,
        slots_leased=leased.count(),
        raters_active=active,
        figures=statistics,
        computed_at=computed_at,
        now=at,
        pace=pace,
        spend=_spend(campaign, statistics, slots),
        qualification=_qualification(campaign),
        comments=_comments(campaign),
        unfilled=left,
        left_out=0 if campaign.state == CampaignState.CLOSED else replaceable(campaign).count(),
        raters_joined=campaign.participations.count(),
    )


def campaign_statistics(campaign: Campaign, at: Moment) -> tuple[Statistics | None, datetime | None]:
    """Return the statistics as of now, or a worker's latest with their time."""
    if is_large(campaign):
        snapshot = CampaignSnapshot.objects.filter(campaign=campaign, figures__shape=shape(Statistics)).first()
        return (revived(Statistics, snapshot.figures), snapshot.computed_at) if snapshot else (None, None)
    amended = campaign.amendments.aggregate(last=Max("number"))["last"]  # what is planned changes with it
    key = f"campaign-figures-{campaign.pk}-{at.version}-{amended}-{shape(Statistics)}"
    return cache.get_or_set(key, lambda: compute_statistics(campaign, at), CACHE_SECONDS), None


def is_large(campaign: Campaign) -> bool:
    """Return whether a worker computes the statistics; count no further than needed."""
    (n_ratings,) = sql.row(
        "SELECT count(*) FROM (SELECT 1 FROM annotation_rating WHERE campaign_id = %s LIMIT %s) AS counted",
        [campaign.pk, SYNCHRONOUS + 1],
    )
    return bool(n_ratings > SYNCHRONOUS)


def waiting_for_statistics() -> list[Campaign]:
    """Return large campaigns with news since a worker computed their statistics, a minute ago or longer.

    Statistics that another version of the product stored are computed anew.
    """
    newer_rating = Rating.objects.filter(campaign=OuterRef("pk"), pk__gt=OuterRef("seen"))
    decided = RaterDecision.objects.filter(campaign=OuterRef("pk"), decided_at__gt=OuterRef("snapshot__computed_at"))
    amended = Amendment.objects.filter(campaign=OuterRef("pk"), made_at__gt=OuterRef("snapshot__computed_at"))
    changed = (
        Campaign.objects.exclude(state=CampaignState.DRAFT)
        .annotate(seen=Coalesce(F("snapshot__last_rating_id"), 0))
        .filter(
            Q(snapshot__isnull=True)
            | Q(snapshot__figures__shape__isnull=True)
            | ~Q(snapshot__figures__shape=shape(Statistics))
            | Q(snapshot__computed_at__lt=Now() - timedelta(seconds=SNAPSHOT_SECONDS))
            & (Q(Exists(newer_rating)) | Q(Exists(decided)) | Q(Exists(amended))),
        )
    )
    return [campaign for campaign in changed if is_large(campaign)]


# --- Counts of this moment --------------------------------------------------------------------------------------------


def _busy(campaign: Campaign, left: int, *, large: bool) -> tuple[int, Pace | None]:
    """Return the raters at work and the pace; cached for large campaigns, since both read the last hour's ratings."""

    def count() -> tuple[int, Pace | None]:
        active = active_raters(campaign)
        return active, pace(campaign, left, active)

    key = f"campaign-busy-{campaign.pk}-{campaign.state}"
    return (large and cache.get_or_set(key, count, BUSY_SECONDS)) or count()


def _left(campaign: Campaign, n_slots: int, n_planned: int, *, large: bool) -> Unfilled | None:
    """Return who could fill what is left; cached for large campaigns."""
    key = f"campaign-unfilled-{campaign.pk}-{n_planned}"
    if not large:
        return unfilled(campaign, n_slots)
    return cache.get_or_set(key, lambda: unfilled(campaign, n_slots), BUSY_SECONDS)


def active_raters(campaign: Campaign) -> int:
    """Count raters who hold a unit or sent one within the last minutes."""
    recent = Now() - timedelta(minutes=ACTIVE_MINUTES)
    holding = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    sent = Rating.objects.filter(campaign=campaign, created_at__gt=recent).order_by()
    return holding.values_list("rater_id").union(sent.values_list("rater_id")).count()


def pace(campaign: Campaign, left: int, active: int) -> Pace | None:
    """Return the pace of the last hour's ratings, which have an index; None without any.

    While no rater is ``active``, the end moves on with the clock, so none is given.
    """
    if campaign.launched_at is None:
        return None
    since = timezone.now() - timedelta(hours=PACE_HOURS)
    recent = Rating.objects.filter(campaign=campaign, created_at__gt=since, revision=0, extra=False)
    screens = recent.order_by().values("presentation_id").distinct().count()
    hours = min(PACE_HOURS, max((timezone.now() - campaign.launched_at).total_seconds() / 3600, 1 / 60))
    if screens == 0:
        return None
    running = campaign.state == CampaignState.RUNNING
    hours_left = max(left, 0) * hours / screens
    is_near = hours_left < 24 * 365 * 10
    end = timezone.now() + timedelta(hours=hours_left) if running and active and is_near else None
    return Pace(screens, hours, end, is_idle=running and not active)


def _spend(campaign: Campaign, statistics: Statistics | None, slots: SlotCounts) -> Spend | None:
    if not campaign.payment_per_unit or statistics is None:
        return None
    n_paid, n_work = statistics.n_paid, statistics.n_paid_work
    pay, with_fee = cost(campaign, n_paid)
    if not n_work:
        return Spend(n_paid, pay, with_fee, None)
    to_come = 0 if campaign.state == CampaignState.CLOSED else max(slots.planned - slots.done, 0)
    # Late and replaced answers are paid, too.
    return Spend(n_paid, pay, with_fee, cost(campaign, (max(n_work, slots.done) + to_come) * n_paid / n_work)[1])


def _qualification(campaign: Campaign) -> Qualification | None:
    if not campaign.qualification:
        return None
    counts = stage_counts(campaign)
    passed = campaign.participations.filter(qualified_at__isnull=False).count()
    failed = counts["failed"]
    interval = wilson_interval([passed], [passed + failed])
    share = passed / (passed + failed) if passed + failed else float("nan")
    stages = counts["training"], counts["test"], counts["work"], failed
    return Qualification(*stages, share, float(interval.low[0]), float(interval.high[0]))


def _comments(campaign: Campaign) -> list[Comment]:
    """Return the latest comments that are not empty, each in its last wording."""
    later = Comment.objects.filter(presentation=OuterRef("presentation"), revision__gt=OuterRef("revision"))
    comments = Comment.objects.filter(~Exists(later), campaign=campaign).exclude(text="")
    return list(comments.select_related("rater", "presentation").order_by("-pk")[:COMMENTS])
