"""Register exclusion rules of a campaign, in versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.campaigns.services.gate import campaign_alone
from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.numbers import counted
from annotation.models import Campaign, CampaignState, QualityRules, Rater, User
from annotation.projects.services.audit import audit_record
from annotation.weighting.exclusion.listed import ExcludeRaters, ExcludeRatings
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule, RuleError

MOST_RULES = 50


def rules_read(*, campaign: Campaign, records: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Return the rules of records; ``AnnotationError`` names the rule and the field."""
    if not isinstance(records, Sequence) or not all(isinstance(record, Mapping) for record in records):
        raise AnnotationError.at("rules", 'Found no list of records; accepted: [{"rule": …, "version": 1, …}, …].')
    if len(records) > MOST_RULES:
        raise AnnotationError.at("rules", f"Found {len(records)} rules; accepted: up to {MOST_RULES}.")
    try:
        rules = rules_from_data(records)
    except RuleError as error:
        raise AnnotationError.at("rules", f"{error}.") from error
    for number, rule in enumerate(rules, start=1):
        if isinstance(rule, ExcludeRaters):
            missing, accepted = _unknown_raters(campaign, rule), "pseudonyms of this project's raters"
        elif isinstance(rule, ExcludeRatings):
            missing, accepted = _unknown_ratings(campaign, rule), "numbers of this campaign's ratings"
        else:
            continue
        if missing:
            message = f"Rule {number} names {', '.join(missing[:5])}; accepted: {accepted}."
            raise AnnotationError.at("rules", message)
    return rules


@transaction.atomic
def rules_register(
    *, campaign: Campaign, records: Sequence[Mapping[str, Any]], seen: int | None = None, by: User | None = None
) -> QualityRules:
    """Store the campaign's next version of rules, unless they equal the newest. It records whether this is a draft.

    With ``seen``, the version that the user saw, 0 for none, a newer one of another user is not replaced.
    """
    rules = rules_read(campaign=campaign, records=records)
    campaign = campaign_alone(campaign.pk)
    plain = [rule.to_dict() for rule in rules]
    versions = QualityRules.objects.filter(campaign=campaign)
    newest = versions.select_related("created_by").order_by("-version").first()
    if newest is not None and newest.rules == plain:
        return newest
    if newest is not None and seen is not None and newest.version > seen and newest.created_by != by:
        raise Overtaken(
            f"{newest.created_by or 'Another user'} registered version {newest.version} after you opened the page. "
            "Yours is not registered yet. Register again to put your rules in its place, or reload the page to see it."
        )
    version = QualityRules.objects.create(
        campaign=campaign,
        version=(versions.aggregate(last=Max("version"))["last"] or 0) + 1,
        rules=plain,
        before_launch=campaign.state == CampaignState.DRAFT,
        created_by=by,
    )
    audit_record(
        verb="rules.register",
        summary=f"Version {version.version} of the rules registered: {counted(len(plain), 'rule')}.",
        campaign=campaign,
        by=by,
        data={"rules": version.version, "before_launch": version.before_launch},
    )
    return version


def _unknown_raters(campaign: Campaign, rule: ExcludeRaters) -> list[str]:
    names = {str(name) for name in rule.raters}
    storable = [name for name in names if "\x00" not in name]  # PostgreSQL takes no such text
    known = Rater.objects.filter(project=campaign.project_id, pseudonym__in=storable)
    return sorted(names - set(known.values_list("pseudonym", flat=True)))


def _unknown_ratings(campaign: Campaign, rule: ExcludeRatings) -> list[str]:
    names = [str(rating) for rating in rule.ratings]
    numbers = {name: int(name) for name in names if name.isdecimal() and len(name) <= 18}
    known = set(campaign.ratings.filter(pk__in=numbers.values()).values_list("pk", flat=True))
    return [name for name in names if numbers.get(name) not in known]
