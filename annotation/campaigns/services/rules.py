"""Exclusion rules of a campaign: registered in versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.campaigns.services.gate import campaign_alone
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, QualityRules, Rater, User
from annotation.projects.services.audit import audit_record
from annotation.weighting.exclusion.listed import ExcludeRaters, ExcludeRatings
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule, RuleError

MOST_RULES = 50


def rules_read(*, campaign: Campaign, records: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Rules from records; ``AnnotationError`` names the rule and the field."""
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
            _check_raters(campaign, rule, number)
        if isinstance(rule, ExcludeRatings):
            _check_ratings(campaign, rule, number)
    return rules


@transaction.atomic
def rules_register(*, campaign: Campaign, records: Sequence[Mapping[str, Any]], by: User | None = None) -> QualityRules:
    """Write down the campaign's next version of rules; the same as the newest is no new version.

    Registered on a draft, they count as written before any rating could be known.
    """
    rules = rules_read(campaign=campaign, records=records)
    campaign = campaign_alone(campaign.pk)
    plain = [rule.to_dict() for rule in rules]
    versions = QualityRules.objects.filter(campaign=campaign)
    newest = versions.order_by("-version").first()
    if newest is not None and newest.rules == plain:
        return newest
    version = QualityRules.objects.create(
        campaign=campaign,
        version=(versions.aggregate(last=Max("version"))["last"] or 0) + 1,
        rules=plain,
        before_launch=campaign.state == CampaignState.DRAFT,
        created_by=by,
    )
    audit_record(
        verb="rules.register",
        summary=f"Version {version.version} of the rules registered: {_counted(len(plain), 'rule')}.",
        campaign=campaign,
        by=by,
        data={"rules": version.version, "before_launch": version.before_launch},
    )
    return version


def _check_raters(campaign: Campaign, rule: ExcludeRaters, number: int) -> None:
    askable = [str(name) for name in rule.raters if "\x00" not in str(name)]  # PostgreSQL takes no such text
    known = set(
        Rater.objects.filter(project=campaign.project_id, pseudonym__in=askable).values_list("pseudonym", flat=True)
    )
    missing = sorted({str(name) for name in rule.raters} - known)
    if missing:
        raise AnnotationError.at(
            "rules", f"Rule {number} names {', '.join(missing[:5])}; accepted: pseudonyms of this project's raters."
        )


def _check_ratings(campaign: Campaign, rule: ExcludeRatings, number: int) -> None:
    numbers = [int(one) for one in rule.ratings if str(one).isdecimal() and len(str(one)) <= 18]
    known = set(campaign.ratings.filter(pk__in=numbers).values_list("pk", flat=True))
    missing = [str(one) for one in rule.ratings if not str(one).isdecimal() or int(one) not in known]
    if missing:
        raise AnnotationError.at(
            "rules", f"Rule {number} names {', '.join(missing[:5])}; accepted: numbers of this campaign's ratings."
        )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
