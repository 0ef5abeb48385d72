"""The terms of a recruitment: stored as JSON in its options, read and written only here (see ``Recruitment.offer``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django.template.defaultfilters import pluralize

from annotation.campaigns.selectors import work_left
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Recruitment
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.amounts import is_payable
from annotation.recruitment.providers.base import (
    AfterCode,
    Capability,
    CompletionCode,
    Eligibility,
    Outcome,
    StudyDraft,
)
from annotation.recruitment.providers.codes import check_codes, new_codes

MOST_PLACES = 10_000


@dataclass(frozen=True)
class Terms:
    """What a recruitment offers raters, and whom it admits."""

    title: str = ""
    description: str = ""
    reward: Decimal = Decimal(0)
    places: int = 0
    minutes: int = 0
    currency: str = "GBP"
    approval_rate: int | None = None
    approvals: int | None = None
    adult_content: bool = False
    screen_out_reward: Decimal | None = None  # of a paid screen-out
    screen_out_places: int | None = None  # paid screen-outs at most
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
    options = recruitment.options
    stored = {each.name: options[each.name] for each in fields(Terms) if each.name in options}
    for name in ("reward", "screen_out_reward"):
        if stored.get(name):
            stored[name] = Decimal(stored[name])
    return Terms(**stored | {"codes": tuple(_code(code) for code in stored.get("codes", ()))})


def recruitment_shown(recruitment: Recruitment) -> dict[str, Any]:
    """Return what the form of a recruitment shows, by its inputs."""
    terms = terms_of(recruitment)
    shown = {name: value for name, value in vars(terms).items() if name not in ("codes", "extra")}
    after = {f"after_{code.outcome.value}": code.after.value for code in terms.codes}
    return {**shown, **after, **terms.extra, "name": recruitment.name, "return_policy": str(recruitment.return_policy)}


def terms_stored(terms: Terms) -> dict[str, Any]:
    """Return the terms as JSON."""
    return {
        **{each.name: getattr(terms, each.name) for each in fields(terms)},
        "reward": str(terms.reward),
        "screen_out_reward": None if terms.screen_out_reward is None else str(terms.screen_out_reward),
        "codes": [
            {"outcome": code.outcome.value, "code": code.code, "after": code.after.value, "reason": code.reason}
            | ({"reward": str(code.reward), "places": code.places} if code.reward is not None else {})
            for code in terms.codes
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
    """Return the terms with a code and an action for each outcome; existing codes stay."""
    existing = {code.outcome: code.code for code in terms.codes}
    codes = []
    for new_code in new_codes(after):
        code = replace(new_code, code=existing.get(new_code.outcome, new_code.code))
        if code.after == AfterCode.PAY_SCREEN_OUT:
            code = replace(code, reward=terms.screen_out_reward, places=terms.screen_out_places)
        codes.append(code)
    return replace(terms, codes=tuple(codes))


def terms_check(terms: Terms, *, provider: str, by_hand: bool) -> None:
    """Check what every provider requires; a provider checks its own rules itself."""
    problems: dict[str, list[str]] = {}
    longest = {"title": 128, "description": 2000}
    for name, most in {} if by_hand else longest.items():
        if not 1 <= len(getattr(terms, name).strip()) <= most:
            problems[name] = [f"Found {len(getattr(terms, name).strip())} characters; accepted: 1 to {most}."]
    if not is_payable(terms.reward):
        problems["reward"] = [f"Found {terms.reward}; accepted: an amount above 0 with at most two decimals."]
    if not 1 <= terms.places <= MOST_PLACES:
        problems["places"] = [f"Found {terms.places}; accepted: 1 to {MOST_PLACES:,}."]
    if not 1 <= terms.minutes <= 600:
        problems["minutes"] = [f"Found {terms.minutes}; accepted: 1 to 600."]
    paid = [code for code in terms.codes if code.after == AfterCode.PAY_SCREEN_OUT]
    if paid and Capability.PAID_SCREEN_OUT not in PROVIDERS[provider].capabilities:
        label = PROVIDERS[provider].label
        problems["codes"] = [f"Found a paid screen-out; accepted: other actions, {label} does not pay screen-outs."]
    elif any(not (code.reward and code.places) for code in paid):
        problems["screen_out_reward"] = ["Found no amount or no number of places; accepted: both, to pay screen-outs."]
    if problems:
        raise AnnotationError("These terms cannot be offered.", fields=problems)
    check_codes(terms.codes)


def parse_amount(text: str, *, label: str) -> Decimal:
    try:
        value = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        value = Decimal("NaN")
    if not is_payable(value) or value >= 100_000:
        raise AnnotationError.at("lines", f"{label}: found {text.strip()[:40]!r}; accepted: an amount such as 1.50.")
    return value


def warnings_of(terms: Terms, campaign: Campaign, *, provider: str) -> list[str]:
    """Return warnings for a manager who is about to publish; none prevents it."""
    warnings = []
    service = PROVIDERS[provider]
    rate, currency = terms.per_hour, terms.currency
    least, fair = service.least_per_hour.get(currency), service.fair_per_hour.get(currency)
    if rate is not None and least is not None and rate < least:
        warnings.append(f"{rate} {currency} an hour is below the minimum of {service.label}, {least} {currency}.")
    elif rate is not None and fair is not None and rate < fair:
        warnings.append(f"{rate} {currency} an hour is below {fair} {currency}, {service.fair_source}.")
    if campaign.payment_currency != currency:
        warnings.append(
            f"The campaign pays in {campaign.payment_currency}; this recruitment pays in {currency}. "
            "Amounts are not converted."
        )
    warnings += service.warnings(places=terms.places, agreed_fee=campaign.payment_fee_percent)
    screens = expected_screens(campaign, places=terms.places)
    if campaign.min_units_per_rater < screens:
        least_done = max(campaign.min_units_per_rater, 1)
        warnings.append(
            f"A rater who stops after {least_done} item{pluralize(least_done)} has completed and gets the "
            f"whole reward; about {screens} are expected. Set the minimum per rater in the campaign's design."
        )
    if not campaign.consent.strip():
        warnings.append("The campaign has no consent text: raters are not asked whether they agree to take part.")
    return warnings


def expected_screens(campaign: Campaign, *, places: int = 0) -> int:
    """Return the items expected of one rater: an equal share of the slots to fill, within the campaign's limits.

    Without places the limit, else the minimum.
    """
    least, most = max(campaign.min_units_per_rater, 1), campaign.max_units_per_rater
    if not places:
        return most or least
    n_units, n_slots = work_left(campaign)
    return max(min(most or n_units, n_units, -(-n_slots // places)), least)


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
        eligibility=Eligibility(terms.approval_rate, terms.approvals, adult_content=terms.adult_content),
        extra=terms.extra,
    )
