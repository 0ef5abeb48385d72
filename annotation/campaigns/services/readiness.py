"""Report whether a draft can be launched, and its size and cost. Problems prevent a launch; hints do not."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from annotation.campaigns.design.quality import PREPARED, QualificationDesign, QualityDesign
from annotation.campaigns.design.reading import DesignError
from annotation.campaigns.design.scale_words import follows
from annotation.campaigns.design.wording import CHECKS_LINE
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.fields.table import CampaignDraft
from annotation.campaigns.presentations import PRESENTATIONS
from annotation.campaigns.scales import SCALES
from annotation.campaigns.selectors import rated_sources, seconds_per_screen, standards_of
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.launch import misfit_of_responses, plan_or_none
from annotation.campaigns.services.validation import TO_FILL_IN, launch_problems
from annotation.core.numbers import counted
from annotation.models import Admission, Campaign, CommentField, Item

ITEMS = ("item", "items")  # what raters write about


@dataclass(frozen=True)
class Remark:
    """A problem or a hint. ``field`` is its path, as in ``draft_problems``; empty for the whole campaign."""

    text: str
    field: str = ""


@dataclass(frozen=True)
class LaunchReport:
    """``screens`` includes the checks, which are paid like work; ``seconds`` per screen is estimated by length."""

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
    nouns: tuple[str, str]  # what a rater answers at once: one, and many

    @property
    def ready(self) -> bool:
        return not self.problems

    @property
    def unit_label(self) -> str:
        """What is rated, many of them, as a label."""
        return self.nouns[1].capitalize()

    @property
    def to_be(self) -> str:
        """Return what raters do with it."""
        return "to be written about" if self.nouns == ITEMS else "to be rated"

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
    def screens_each(self) -> int:
        """Return the answers of one rater if there are no more raters than needed."""
        return math.ceil(self.screens / max(self.raters_at_least, 1))

    @property
    def hours_text(self) -> str:
        return f"{self.hours:,.0f}" if self.hours >= 10 else f"{self.hours:.1f}"

    @property
    def time_text(self) -> str:
        return _time_text(self.hours)

    @property
    def time_each_text(self) -> str:
        """Return the time of one rater if there are no more raters than needed."""
        return _time_text(self.hours / max(self.raters_at_least, 1))

    @property
    def launch_text(self) -> str:
        plan = f"{counted(self.units, *self.nouns)} {self.to_be}, with {counted(self.slots, 'slot')} to fill"
        done = self.to_be.removeprefix("to be ")
        return (
            f"The launch plans {plan}, and freezes the design: what is {done}, the scale, the instructions and the "
            "checks cannot be changed afterwards."
        )

    @property
    def pay_per_hour(self) -> Decimal | None:
        """Return what a rater would earn at the estimated pace; None without payment."""
        if not self.pay or not self.hours:
            return None
        return (self.pay / Decimal(self.hours)).quantize(Decimal("0.01"))


def launch_report(campaign: Campaign) -> LaunchReport:
    draft = draft_of(campaign)
    refused = launch_problems(campaign, draft)
    problems = [Remark(message, field) for field, messages in refused.items() for message in messages]
    plan = None if "pairs" in refused or "systems" in refused else plan_or_none(campaign)
    units = len(plan.units) if plan else 0
    if plan and not refused and (message := misfit_of_responses(campaign, plan)):
        problems.append(Remark(message, "criteria"))
    problems.extend(_without_standard(campaign, draft))
    if not units and not problems:
        source = "data set" if campaign.response_list is None else "list"
        problems.append(Remark(f"There is nothing to rate: the {source} has no such texts.", "target"))
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
        seconds=seconds_per_screen(campaign) if units else 0.0,
        raters_at_least=max(campaign.ratings_per_unit, math.ceil(slots / most)) if units else 0,
        pay=_cents(pay),
        fees=_cents(pay * campaign.payment_fee_percent / 100),
        currency=campaign.payment_currency,
        nouns=ITEMS if Writing.lenient(campaign.writing).hides_text else campaign.presentation_kind.nouns,
    )
    report.hints.extend(_hints(draft, quality, report))
    return report


def _without_standard(campaign: Campaign, draft: CampaignDraft) -> Iterator[Remark]:
    """Yield a problem if a rated item lacks the standard text of magnitudes."""
    if not any(criterion.kind in SCALES and criterion.scale.has_standard for criterion in draft.criteria):
        return
    rated = rated_sources(campaign).order_by().values("item")
    missing = Item.objects.filter(pk__in=rated).exclude(pk__in=standards_of(campaign))
    if n := missing.count():
        names = ", ".join(missing.order_by("position").values_list("external_id", flat=True)[:3])
        which = f"{counted(n, 'item')} without one: {names}{', …' if n > 3 else ''}"
        yield Remark(f"Magnitudes need a standard text for every item; found {which}.", "criteria")


def _hints(draft: CampaignDraft, quality: QualityDesign, report: LaunchReport) -> Iterator[Remark]:
    if not draft.consent.strip():
        yield Remark("There is no consent text: raters are not asked whether they agree to take part.", "consent")
    yield from _hints_of_instructions(draft)
    if draft.ratings_per_unit == 1:
        yield Remark(
            "With one rating of each response, the agreement of raters cannot be measured.", "ratings_per_unit"
        )
    yield from _hints_of_quality(draft, quality)
    if not draft.payment_per_unit and (draft.completion_code or draft.admission == Admission.PROVIDER):
        yield Remark(
            "No payment is set, so that neither the cost nor the hourly pay can be computed.", "payment_per_unit"
        )
    elif draft.payment_per_unit and not draft.completion_code:
        yield Remark(
            "There is no completion code: raters who come by the link get no proof of their work.", "completion_code"
        )
    if draft.completion_code and draft.min_units_per_rater < 2:
        yield Remark(
            "Raters get the completion code after one response: set a minimum per rater.", "min_units_per_rater"
        )
    if 1 < draft.min_units_per_rater < report.units == report.screens_each and draft.max_units_per_rater is None:
        yield Remark(
            f"Raters read that {draft.min_units_per_rater:,} items are enough, but {report.raters_at_least:,} raters "
            f"must answer all {report.units:,} each: invite more raters, or raise the minimum.",
            "min_units_per_rater",
        )
    if draft.max_units_per_rater is None and report.units > 200:
        yield Remark(
            "There is no limit per rater: a few quick raters could give most of the ratings.", "max_units_per_rater"
        )
    if draft.lease_seconds < 3 * report.seconds:
        yield Remark(
            f"One answer takes some {report.seconds:.0f} s; {draft.lease_seconds} s for it are short.",
            "lease_seconds",
        )
    if draft.comment == CommentField.REQUIRED:
        yield Remark(
            "A comment is required with every answer: it takes raters much longer than the ratings.", "comment"
        )


def _hints_of_instructions(draft: CampaignDraft) -> Iterator[Remark]:
    if not draft.instructions.strip():
        yield Remark("There are no instructions: raters see the questions alone.", "instructions")
    if not follows(draft.instructions, [criterion for criterion in draft.criteria if criterion.kind in SCALES]):
        yield Remark("The instructions describe another scale than the one that raters see.", "instructions")
    if spoken := speaks_of_another(draft.presentation, draft.instructions):
        yield Remark(
            f"The instructions speak of “{spoken}”, but raters see {PRESENTATIONS[draft.presentation].sentence}.",
            "instructions",
        )
    if left := TO_FILL_IN.findall(draft.instructions):
        yield Remark(f"The instructions have square brackets to fill in: {', '.join(left[:4])}.", "instructions")


def speaks_of_another(presentation: str, instructions: str) -> str:
    """Return the words by which instructions speak of another presentation than this one; empty without any."""
    plain = instructions.replace("*", "")
    if presentation not in PRESENTATIONS or any(words in plain for words in PRESENTATIONS[presentation].spoken_of):
        return ""
    of_others = (words for kind in PRESENTATIONS.values() for words in kind.spoken_of)
    return next((words for words in of_others if words in plain), "")


def _hints_of_quality(draft: CampaignDraft, quality: QualityDesign) -> Iterator[Remark]:
    if not quality.every:
        yield Remark("No checks are mixed in: spammers can be recognised only by their times and agreement.", "quality")
    most = draft.max_units_per_rater
    if not quality.every and CHECKS_LINE in draft.instructions:
        yield Remark("The instructions speak of a few screens that are checks, but none are mixed in.", "instructions")
    if "repeat" in quality.mix and most is not None and most <= quality.repeat_gap:
        yield Remark(
            f"An item is repeated after {quality.repeat_gap} others, but a rater has at most {most}: none is repeated.",
            "quality.repeat_gap",
        )
    for kind in (kind.key for kind in PREPARED.values() if kind.field == "quality"):
        if (screens := getattr(quality, kind)) and kind not in quality.mix:
            yield Remark(f"{len(screens)} {kind} items are prepared, but none are mixed in.", f"quality.mix.{kind}")


def _quality(draft: CampaignDraft) -> QualityDesign:
    try:
        QualificationDesign.from_dict(draft.qualification)
        return QualityDesign.from_dict(draft.quality)
    except DesignError:
        return QualityDesign()


def _time_text(hours: float) -> str:
    """Return hours in words, in minutes up to an hour and a half.

    >>> [_time_text(hours) for hours in (0.001, 0.4, 1.6, 1234)]
    ['1 minute', '24 minutes', '1.6 hours', '1,234 hours']
    """
    if hours < 1.5:
        return counted(max(round(60 * hours), 1), "minute")
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))
