"""What a recruitment offers: stored as JSON with it, read and written here alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Recruitment
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import (
    AfterCode,
    Capability,
    CompletionCode,
    Eligibility,
    Outcome,
    StudyDraft,
)
from annotation.recruitment.providers.codes import DEFAULT_AFTER, RETURN_REASONS, check_codes, new_codes

MOST_PLACES = 10_000


@dataclass(frozen=True)
class Terms:
    """Of one recruitment, before and after it is published."""

    title: str = ""
    description: str = ""
    reward: Decimal = Decimal(0)
    places: int = 0
    minutes: int = 0
    currency: str = "GBP"
    approval_rate: int | None = None
    approvals: int | None = None
    adult_content: bool = False
    screen_out_reward: Decimal | None = None  # where a screen-out is paid; how often at most
    screen_out_places: int | None = None
    codes: tuple[CompletionCode, ...] = field(default_factory=tuple)
    extra: Mapping[str, Any] = field(default_factory=dict)  # values of the provider's study fields, by name

    @property
    def per_hour(self) -> Decimal | None:
        if not self.minutes or not self.reward:
            return None
        return (self.reward * 60 / self.minutes).quantize(Decimal("0.01"))

    @property
    def pay(self) -> Decimal:
        return self.reward * self.places


def terms_of(recruitment: Recruitment) -> Terms:
    found = recruitment.options
    return Terms(
        title=found.get("title", ""),
        description=found.get("description", ""),
        reward=Decimal(found.get("reward", "0")),
        places=found.get("places", 0),
        minutes=found.get("minutes", 0),
        currency=found.get("currency", "GBP"),
        approval_rate=found.get("approval_rate"),
        approvals=found.get("approvals"),
        adult_content=found.get("adult_content", False),
        screen_out_reward=Decimal(found["screen_out_reward"]) if found.get("screen_out_reward") else None,
        screen_out_places=found.get("screen_out_places"),
        codes=tuple(_code(one) for one in found.get("codes", ())),
        extra=found.get("extra", {}),
    )


def terms_stored(terms: Terms) -> dict[str, Any]:
    return {
        "title": terms.title,
        "description": terms.description,
        "reward": str(terms.reward),
        "places": terms.places,
        "minutes": terms.minutes,
        "currency": terms.currency,
        "approval_rate": terms.approval_rate,
        "approvals": terms.approvals,
        "adult_content": terms.adult_content,
        "screen_out_reward": None if terms.screen_out_reward is None else str(terms.screen_out_reward),
        "screen_out_places": terms.screen_out_places,
        "codes": [
            {"outcome": one.outcome.value, "code": one.code, "after": one.after.value, "reason": one.reason}
            | ({"reward": str(one.reward), "places": one.places} if one.reward is not None else {})
            for one in terms.codes
        ],
        "extra": dict(terms.extra),
    }


def _code(stored: Mapping[str, Any]) -> CompletionCode:
    reward = stored.get("reward")
    return CompletionCode(
        Outcome(stored["outcome"]),
        stored["code"],
        AfterCode(stored["after"]),
        reason=stored.get("reason", ""),
        reward=None if reward is None else Decimal(reward),
        places=stored.get("places"),
    )


def codes_chosen(terms: Terms, after: Mapping[Outcome, AfterCode]) -> Terms:
    """Codes by outcome with what follows each; the codes themselves stay once they were made."""
    existing = {one.outcome: one.code for one in terms.codes}
    codes = []
    for fresh in new_codes({**DEFAULT_AFTER, **after}):
        reason = RETURN_REASONS[fresh.outcome] if fresh.after == AfterCode.ASK_RETURN else ""
        made = replace(fresh, code=existing.get(fresh.outcome, fresh.code), reason=reason)
        if made.after == AfterCode.PAY_SCREEN_OUT:
            made = replace(made, reward=terms.screen_out_reward, places=terms.screen_out_places)
        codes.append(made)
    return replace(terms, codes=tuple(codes))


def terms_check(terms: Terms, *, provider: str, by_hand: bool) -> None:
    """Check what every provider needs; a provider refuses by itself what only it refuses."""
    problems: dict[str, list[str]] = {}
    longest = {"title": 128, "description": 2000}
    for name, most in {} if by_hand else longest.items():
        if not 1 <= len(getattr(terms, name).strip()) <= most:
            problems[name] = [f"Found {len(getattr(terms, name).strip())} characters; accepted: 1 to {most}."]
    cents = terms.reward * 100
    if not terms.reward.is_finite() or terms.reward <= 0 or cents != cents.to_integral_value():
        problems["reward"] = [f"Found {terms.reward}; accepted: an amount above 0 with at most two decimals."]
    if not 1 <= terms.places <= MOST_PLACES:
        problems["places"] = [f"Found {terms.places}; accepted: 1 to {MOST_PLACES:,}."]
    if not 1 <= terms.minutes <= 600:
        problems["minutes"] = [f"Found {terms.minutes}; accepted: 1 to 600."]
    paid = [one for one in terms.codes if one.after == AfterCode.PAY_SCREEN_OUT]
    if paid and Capability.PAID_SCREEN_OUT not in PROVIDERS[provider].capabilities:
        label = PROVIDERS[provider].label
        problems["codes"] = [f"Found a paid screen-out; accepted: others, {label} has no such thing."]
    elif any(not (one.reward and one.places) for one in paid):
        problems["screen_out_reward"] = ["Found no amount or no number of places; accepted: both, to pay screen-outs."]
    if problems:
        raise AnnotationError("Some of it cannot be offered.", fields=problems)
    check_codes(terms.codes)


def amount(text: str, *, where: str) -> Decimal:
    try:
        found = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        found = Decimal("NaN")
    cents = found * 100
    if not found.is_finite() or not Decimal(0) < found < Decimal(100_000) or cents != cents.to_integral_value():
        raise AnnotationError.at("lines", f"{where}: found {text.strip()[:40]!r}; accepted: an amount such as 1.50.")
    return found


def warnings_of(terms: Terms, campaign: Campaign, *, provider: str) -> list[str]:
    """What a manager should know before money is spent; nothing of it forbids."""
    found = []
    service = PROVIDERS[provider]
    rate, currency = terms.per_hour, terms.currency
    least, fair = service.least_per_hour.get(currency), service.fair_per_hour.get(currency)
    if rate is not None and least is not None and rate < least:
        found.append(f"{rate} {currency} an hour is below the least that {service.label} allows, {least} {currency}.")
    elif rate is not None and fair is not None and rate < fair:
        found.append(f"{rate} {currency} an hour is below {fair} {currency}, {service.fair_source}.")
    if campaign.payment_currency != currency:
        found.append(
            f"The campaign counts in {campaign.payment_currency}; this recruitment pays in {currency}. "
            "Sums of the two are not converted."
        )
    found += service.warnings(places=terms.places, agreed_fee=campaign.payment_fee_percent)
    screens = expected_screens(campaign, places=terms.places)
    if campaign.min_units_per_rater < screens:
        least_done = max(campaign.min_units_per_rater, 1)
        found.append(
            f"Whoever stops after {least_done} screen{'' if least_done == 1 else 's'} has completed and gets the whole "
            f"reward; about {screens} are expected. Set the fewest screens per rater in the campaign's design."
        )
    if not campaign.consent.strip():
        found.append("The campaign has no consent text: nobody is asked whether they agree to take part.")
    return found


def expected_screens(campaign: Campaign, *, places: int = 0) -> int:
    """Of one rater: the limit, else an equal share of what there is to do, else the fewest."""
    if campaign.max_units_per_rater:
        return campaign.max_units_per_rater
    units = int((campaign.design or {}).get("units", 0))
    if units and places:
        return max(min(units, -(-units * campaign.ratings_per_unit // places)), campaign.min_units_per_rater, 1)
    return max(campaign.min_units_per_rater, 1)


def fee_percent(terms: Terms, campaign: Campaign, *, provider: str) -> Decimal:
    return PROVIDERS[provider].fee_percent(places=terms.places, agreed=campaign.payment_fee_percent)


def study_draft(recruitment: Recruitment, *, entry_url: str) -> StudyDraft:
    terms = terms_of(recruitment)
    return StudyDraft(
        title=terms.title,
        description=terms.description,
        entry_url=entry_url,
        reward=terms.reward,
        places=terms.places,
        minutes=terms.minutes,
        reference=f"assay-{recruitment.link_token.hex}",
        codes=terms.codes,
        internal_name=recruitment.name,
        eligibility=Eligibility(
            approval_rate=terms.approval_rate,
            approvals=terms.approvals,
            adult_content=terms.adult_content,
        ),
        extra=terms.extra,
    )
