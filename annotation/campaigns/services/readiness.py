"""Is a draft ready to be launched, and what would it come to? Problems stop a launch; hints do not."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg
from django.db.models.functions import Length

from annotation.campaigns.design import DesignError, QualificationDesign, QualityDesign
from annotation.campaigns.fields.table import CampaignDraft
from annotation.campaigns.scales import SCALES
from annotation.campaigns.selectors import rated_sources
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.launch import plan_or_none, standards_of, too_few_responses
from annotation.campaigns.services.validation import draft_problems
from annotation.models import Campaign, CommentField, Item

CHARACTERS_PER_SECOND = 20.0  # some 240 English words a minute, read with understanding
SECONDS_PER_ANSWER = 3.0
SECONDS_PER_SCREEN = 2.0
TO_FILL_IN = re.compile(r"\[[^\[\]\n]{3,80}\](?!\()")


@dataclass(frozen=True)
class Remark:
    """``field`` is the one that it is about, as in ``draft_problems``; empty where it is about the campaign."""

    text: str
    field: str = ""


@dataclass(frozen=True)
class LaunchReport:
    """``screens`` counts the checks among the work, paid like it; ``seconds`` per screen is a guess by length."""

    problems: list[Remark]
    hints: list[Remark]
    units: int
    slots: int
    checks: int
    seconds: float
    raters_at_least: int
    pay: Decimal
    fees: Decimal
    currency: str

    @property
    def ready(self) -> bool:
        return not self.problems

    @property
    def screens(self) -> int:
        return self.slots + self.checks

    @property
    def total(self) -> Decimal:
        return self.pay + self.fees

    @property
    def hours(self) -> float:
        return self.screens * self.seconds / 3600

    @property
    def hours_text(self) -> str:
        return f"{self.hours:,.0f}" if self.hours >= 10 else f"{self.hours:.1f}"

    @property
    def pay_per_hour(self) -> Decimal | None:
        """What a rater would earn at the guessed pace; None where nothing is paid."""
        if not self.pay or not self.hours:
            return None
        return (self.pay / Decimal(self.hours)).quantize(Decimal("0.01"))


def launch_report(campaign: Campaign) -> LaunchReport:
    draft = draft_of(campaign)
    found = draft_problems(campaign.project, draft, campaign=campaign)
    problems = [Remark(message, field) for field, messages in found.items() for message in messages]
    plan = None if "pairs" in found or "systems" in found else plan_or_none(campaign)
    units = len(plan.units) if plan else 0
    if plan and not found and (message := too_few_responses(campaign, plan)):
        problems.append(Remark(message, "criteria"))
    problems.extend(_without_standard(campaign, draft))
    if not units and not problems:
        where = "data set" if campaign.response_list is None else "list"
        problems.append(Remark(f"There is nothing to rate: the {where} has no such texts.", "target"))
    quality = _quality(draft)
    slots = units * campaign.ratings_per_unit
    checks = math.ceil(slots / (quality.every - 1)) if quality.every > 1 else 0
    pay = (slots + checks) * campaign.payment_per_unit
    most = campaign.max_units_per_rater or units
    report = LaunchReport(
        problems=problems,
        hints=[],
        units=units,
        slots=slots,
        checks=checks,
        seconds=_seconds_per_screen(campaign) if units else 0.0,
        raters_at_least=max(campaign.ratings_per_unit, math.ceil(slots / most)) if units else 0,
        pay=_cents(pay),
        fees=_cents(pay * campaign.payment_fee_percent / 100),
        currency=campaign.payment_currency,
    )
    report.hints.extend(_hints(draft, quality, report))
    return report


def _without_standard(campaign: Campaign, draft: CampaignDraft) -> Iterator[Remark]:
    """Magnitudes need a standard text wherever something is rated."""
    if not any(criterion.kind in SCALES and criterion.scale.has_standard for criterion in draft.criteria):
        return
    rated = rated_sources(campaign).order_by().values("item")
    missing = Item.objects.filter(pk__in=rated).exclude(pk__in=standards_of(campaign))
    if n := missing.count():
        names = ", ".join(missing.order_by("position").values_list("external_id", flat=True)[:3])
        which = f"{n:,} item{'' if n == 1 else 's'} without one: {names}{', …' if n > 3 else ''}"
        yield Remark(f"Magnitudes need a standard text for every item; found {which}.", "criteria")


def _hints(draft: CampaignDraft, quality: QualityDesign, report: LaunchReport) -> Iterator[Remark]:
    if not draft.consent.strip():
        yield Remark("There is no consent text: raters are not asked whether they agree to take part.", "consent")
    if not draft.instructions.strip():
        yield Remark("There are no instructions: raters see the questions alone.", "instructions")
    for name in ("instructions", "consent"):
        if left := TO_FILL_IN.findall(getattr(draft, name)):
            what = "consent text" if name == "consent" else name
            places = ", ".join(left[:4])
            yield Remark(f"Raters would read these places as they stand, in the {what}: {places}. Fill them in.", name)
    if draft.ratings_per_unit == 1:
        yield Remark("With one rating of each unit nobody can tell how far raters agree.", "ratings_per_unit")
    yield from _hints_of_quality(draft, quality)
    if not draft.payment_per_unit:
        yield Remark(
            "No payment is set: what it costs, and what raters earn in an hour, cannot be told.", "payment_per_unit"
        )
    elif not draft.completion_code:
        yield Remark(
            "There is no completion code: raters who come by the link have nothing to show for their work.",
            "completion_code",
        )
    if draft.max_units_per_rater is None and report.units > 200:
        yield Remark(
            "One rater may do everything: without a limit a few quick ones can outweigh all others.",
            "max_units_per_rater",
        )
    if draft.lease_seconds < 3 * report.seconds:
        yield Remark(
            f"A screen takes some {report.seconds:.0f} s to answer; a lease of {draft.lease_seconds} s is short.",
            "lease_seconds",
        )
    if draft.comment == CommentField.REQUIRED:
        yield Remark("A comment is required on every screen: that takes raters far longer than the ratings.", "comment")


def _hints_of_quality(draft: CampaignDraft, quality: QualityDesign) -> Iterator[Remark]:
    if not quality.every:
        yield Remark("No checks are mixed in: spammers can be told by their times and agreement alone.", "quality")
    most = draft.max_units_per_rater
    if "repeat" in quality.mix and most is not None and most <= quality.repeat_gap:
        yield Remark(
            f"A unit comes again after {quality.repeat_gap} screens, but a rater has at most {most}: none will.",
            "quality.repeat_gap",
        )
    for kind, screens in (("gold", quality.gold), ("attention", quality.attention)):
        if screens and kind not in quality.mix:
            yield Remark(f"{len(screens)} {kind} screens are prepared, but none are mixed in.", f"quality.mix.{kind}")


def _quality(draft: CampaignDraft) -> QualityDesign:
    try:
        QualificationDesign.from_dict(draft.qualification)
        return QualityDesign.from_dict(draft.quality)
    except DesignError:
        return QualityDesign()


def _seconds_per_screen(campaign: Campaign) -> float:
    """Reading everything on it once, and answering each question."""
    sources = rated_sources(campaign).order_by()
    text = sources.aggregate(n=Avg(Length("response__text")))["n"] or 0.0
    items = Item.objects.filter(pk__in=sources.values("item")).order_by()
    context = items.aggregate(n=Avg(Length("message")))["n"] or 0.0
    first = list(items.values_list("context", "meaning_representation")[:200])
    around = sum(sum(map(len, turns)) + len(meaning) for turns, meaning in first) / max(len(first), 1)
    shown = campaign.presentation_kind.shown(sources.values("response").distinct().count(), items.count())
    answers = sum(criterion.scale.answers(shown) for criterion in campaign.criteria.all())
    reading = (context + around + shown * text) / CHARACTERS_PER_SECOND
    return SECONDS_PER_SCREEN + reading + SECONDS_PER_ANSWER * answers


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))
