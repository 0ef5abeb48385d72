"""What the monitor shows: counts of this moment, and the figures there are."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.cache import cache
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignSnapshot,
    CampaignState,
    Comment,
    RaterDecision,
    Rating,
    Slot,
    SlotState,
)
from annotation.quality.selectors.amendments import Places, places
from annotation.quality.selectors.monitoring.figures import Figures, compute_figures, spent
from annotation.quality.selectors.monitoring.stored import revived
from annotation.quality.selectors.raters import Moment, moment, stage_counts
from annotation.weighting.intervals import wilson_interval

ACTIVE_MINUTES = 5
PACE_HOURS = 1
BUSY_SECONDS = 15
COMMENTS = 5
KEPT_SECONDS = 3600
SYNCHRONOUS = 20_000  # ratings up to which figures are computed while a page waits
SNAPSHOT_SECONDS = 60  # a worker computes a campaign's figures at most this often


@dataclass(frozen=True)
class Pace:
    """Screens of the last hour that had answers, and when the rest will be done at that pace."""

    screens: int
    hours: float
    end: datetime | None

    @property
    def per_hour(self) -> float:
        return self.screens / self.hours


@dataclass(frozen=True)
class Spend:
    """In the campaign's currency; ``total`` is what all of it will have cost, with checks as frequent as so far."""

    screens: int
    pay: Decimal
    with_fee: Decimal
    total: Decimal | None


@dataclass(frozen=True)
class Qualification:
    """How many raters passed the test, of those who are through with it."""

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
    figures: Figures | None  # none yet where a worker has still to compute them
    computed_at: datetime | None  # where they are a worker's
    now: Moment
    pace: Pace | None
    spend: Spend | None
    qualification: Qualification | None
    comments: list[Comment]

    @property
    def live(self) -> bool:
        return (self.campaign.state == "running" and not self.campaign.imported) or self.figures is None

    @property
    def percent_done(self) -> float:
        return 100 * self.slots_done / self.slots_total if self.slots_total else 0.0

    @property
    def behind(self) -> bool:
        """Whether answers have come since the figures were computed."""
        return self.figures is not None and self.figures.version != self.now.version

    @property
    def figures_version(self) -> str:
        """Changes when the figures do."""
        return self.figures.version if self.figures else "none"

    @property
    def version(self) -> str:
        """Changes when anything shown does."""
        parts = (
            self.now.version,
            self.figures_version,
            self.slots_total,
            self.slots_done,
            self.slots_leased,
            self.raters_active,
            self.campaign.state,
        )
        return "-".join(map(str, parts))


def campaign_monitor(campaign: Campaign) -> Monitor:
    """The state of a campaign now."""
    at = moment(campaign)
    figures, computed_at = campaign_figures(campaign, at)
    if campaign.imported:
        return Monitor(campaign, 0, 0, 0, 0, figures, computed_at, at, None, None, None, [])
    found = places(campaign)
    held = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    active, pace = _busy(campaign, found.wanted - found.done, large=figures is None or computed_at is not None)
    return Monitor(
        campaign=campaign,
        slots_total=found.wanted,
        slots_done=found.done,
        slots_leased=held.count(),
        raters_active=active,
        figures=figures,
        computed_at=computed_at,
        now=at,
        pace=pace,
        spend=_spend(campaign, figures, found),
        qualification=_qualification(campaign),
        comments=_comments(campaign),
    )


def campaign_figures(campaign: Campaign, at: Moment) -> tuple[Figures | None, datetime | None]:
    """Figures as of now, or a worker's latest with their time."""
    if is_large(campaign):
        snapshot = CampaignSnapshot.objects.filter(campaign=campaign).first()
        return (revived(Figures, snapshot.figures), snapshot.computed_at) if snapshot else (None, None)
    key = f"campaign-figures-{campaign.pk}-{at.version}"
    found: Figures | None = cache.get(key)
    if found is None:
        found = compute_figures(campaign, at)
        cache.set(key, found, KEPT_SECONDS)
    return found, None


def is_large(campaign: Campaign) -> bool:
    """Whether its figures are a worker's work; counts no further than it has to."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM annotation_rating WHERE campaign_id = %s LIMIT %s) AS counted",
            [campaign.pk, SYNCHRONOUS + 1],
        )
        (found,) = cursor.fetchone()
    return bool(found > SYNCHRONOUS)


def waiting_for_figures() -> list[Campaign]:
    """Large campaigns in which something came since a worker last computed their figures, a minute ago or longer."""
    newer_rating = Rating.objects.filter(campaign=OuterRef("pk"), pk__gt=OuterRef("seen"))
    decided = RaterDecision.objects.filter(campaign=OuterRef("pk"), decided_at__gt=OuterRef("snapshot__computed_at"))
    found = (
        Campaign.objects.exclude(state=CampaignState.DRAFT)
        .annotate(seen=Coalesce(F("snapshot__last_rating_id"), 0))
        .filter(
            Q(snapshot__isnull=True) | Q(snapshot__computed_at__lt=Now() - timedelta(seconds=SNAPSHOT_SECONDS)),
            Q(Exists(newer_rating)) | Q(Exists(decided)),
        )
    )
    return [campaign for campaign in found if is_large(campaign)]


# --- Counts of this moment --------------------------------------------------------------------------------------------


def _busy(campaign: Campaign, left: int, *, large: bool) -> tuple[int, Pace | None]:
    """Raters at work and the pace. Of large campaigns both hold for some seconds: they walk the last hour's ratings."""
    key = f"campaign-busy-{campaign.pk}-{campaign.state}"
    found: tuple[int, Pace | None] | None = cache.get(key) if large else None
    if found is None:
        found = _active_raters(campaign), _pace(campaign, left)
        if large:
            cache.set(key, found, BUSY_SECONDS)
    return found


def _active_raters(campaign: Campaign) -> int:
    """Raters who hold a unit or sent one within the last minutes."""
    recent = Now() - timedelta(minutes=ACTIVE_MINUTES)
    holding = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    sent = Rating.objects.filter(campaign=campaign, created_at__gt=recent).order_by()
    return holding.values_list("rater_id").union(sent.values_list("rater_id")).count()


def _pace(campaign: Campaign, left: int) -> Pace | None:
    """From the ratings of the last hour, of which there is an index; None where there were none."""
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
    end = timezone.now() + timedelta(hours=hours_left) if running and hours_left < 24 * 365 * 10 else None
    return Pace(screens, hours, end)


def _spend(campaign: Campaign, figures: Figures | None, found: Places) -> Spend | None:
    if not campaign.payment_per_unit or figures is None:
        return None
    pay, with_fee = spent(campaign, figures.n_paid)
    total = None
    if figures.n_paid_work:
        to_come = 0 if campaign.state == CampaignState.CLOSED else max(found.wanted - found.done, 0)
        work = (
            max(figures.n_paid_work, found.done) + to_come
        )  # late and replaced answers are paid beside those that count
        total = spent(campaign, work * figures.n_paid / figures.n_paid_work)[1]
    return Spend(figures.n_paid, pay, with_fee, total)


def _qualification(campaign: Campaign) -> Qualification | None:
    if not campaign.qualification:
        return None
    counts = stage_counts(campaign)
    passed = campaign.participations.filter(qualified_at__isnull=False).count()
    failed = counts["failed"]
    interval = wilson_interval([passed], [passed + failed])
    share = passed / (passed + failed) if passed + failed else float("nan")
    return Qualification(
        counts["training"],
        counts["test"],
        counts["work"],
        failed,
        share,
        float(interval.low[0]),
        float(interval.high[0]),
    )


def _comments(campaign: Campaign) -> list[Comment]:
    """The latest that say something, each in its last wording."""
    later = Comment.objects.filter(presentation=OuterRef("presentation"), revision__gt=OuterRef("revision"))
    found = Comment.objects.filter(~Exists(later), campaign=campaign).exclude(text="")
    return list(found.select_related("rater", "presentation").order_by("-pk")[:COMMENTS])
