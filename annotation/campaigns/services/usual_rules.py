"""The usual rules about raters, which a draft registers by one tick: before launch, so fitted to no results."""

from typing import Any, Literal

from annotation.campaigns.selectors import too_fast
from annotation.campaigns.services.rules import rules_register
from annotation.models import Campaign, QualityRules, User
from annotation.weighting.exclusion.measured import AgreementBelow, MeasuredRule, MedianSecondsBelow

USUAL: tuple[type[MeasuredRule], ...] = (MedianSecondsBelow, AgreementBelow)


def usual_records(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the rules that flag raters who are too fast, or agree too little with the others."""
    records = [kind(**{**kind.suggested, "action": "flag"}).to_dict() for kind in USUAL]
    return [{**record, "seconds": too_fast(campaign)} if "seconds" in record else record for record in records]


def registered_rules(campaign: Campaign) -> Literal["none", "usual", "own"]:
    """Return whether a campaign has no rules, the usual ones, or others."""
    newest = QualityRules.objects.filter(campaign=campaign).order_by("-version").first()
    if newest is None or not newest.rules:
        return "none"
    return "usual" if _without_seconds(newest.rules) == _without_seconds(usual_records(campaign)) else "own"


def _without_seconds(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what depends on the texts, which may have changed since."""
    return [{name: value for name, value in record.items() if name != "seconds"} for record in records]


def usual_rules_set(*, campaign: Campaign, is_on: bool, by: User | None = None) -> None:
    """Register the usual rules, or a version without rules in their place; rules of one's own stay."""
    registered = registered_rules(campaign)
    if is_on and registered == "none":
        rules_register(campaign=campaign, records=usual_records(campaign), by=by)
    if not is_on and registered == "usual":
        rules_register(campaign=campaign, records=[], by=by)
