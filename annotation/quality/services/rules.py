"""Rules that strike raters: registered in versions, applied by decisions that say why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.campaigns.services.gate import campaign_alone
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Participation, QualityRules, Rater, User
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.raters import APPLIED, Moment, Verdict, moment, verdict_record, verdicts
from annotation.quality.services.decisions import rater_exclude, rater_flag
from annotation.weighting.exclusion import (
    ExcludeRaters,
    ExcludeRatings,
    ExclusionRule,
    RuleError,
    rules_from_data,
)

MOST_RULES = 50


@dataclass(frozen=True)
class Applied:
    """What applying rules did."""

    excluded: int
    flagged: int
    reopened: int
    unchanged: int  # struck, and so already


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


@transaction.atomic
def rules_apply(
    *,
    campaign: Campaign,
    rules: QualityRules,
    replace: bool = False,
    seen: Moment | None = None,
    by: User | None = None,
) -> Applied:
    """Exclude and flag whom the rules strike, each by a decision that names the rule and what it saw.

    ``seen`` applies them as of the moment that a preview showed. Alone with the campaign, so that the log ends where
    the audit log will say it did.
    """
    campaign = campaign_alone(campaign.pk)
    if rules.campaign_id != campaign.pk:
        raise AnnotationError(f"Version {rules.version} of the rules belongs to another campaign.")
    if campaign.state == CampaignState.DRAFT:
        raise AnnotationError("The campaign is a draft; rules can be applied once it was launched.")
    at = _moment(campaign, seen)
    found = verdicts(campaign, rules_from_data(rules.rules), at)
    done = _decide_all(campaign, rules, found, at, replace=replace, by=by)
    audit_record(
        verb=APPLIED,
        summary=(
            f"Version {rules.version} of the rules applied: {_counted(done.excluded, 'rater')} excluded, "
            f"{done.flagged:,} flagged, {_counted(done.reopened, 'place')} opened again."
        ),
        campaign=campaign,
        by=by,
        data={"rules": rules.version, "as_of": at._asdict(), "replace": replace, "verdicts": verdict_record(found)},
    )
    return done


def _moment(campaign: Campaign, seen: Moment | None) -> Moment:
    """A moment that was seen holds unless somebody has decided since: then the preview showed something else."""
    now = moment(campaign)
    if seen is None:
        return now
    if seen.decision != now.decision:
        raise AnnotationError("Somebody has decided about a rater since this was shown; look at the preview again.")
    return Moment(min(seen.rating, now.rating), min(seen.check, now.check), now.decision)


def _decide_all(
    campaign: Campaign, rules: QualityRules, found: Sequence[Verdict], at: Moment, *, replace: bool, by: User | None
) -> Applied:
    joined = set(Participation.objects.filter(campaign=campaign).values_list("rater_id", flat=True))
    excluded = flagged = reopened = unchanged = 0
    for one in found:
        if one.rater.pk not in joined:  # who rated elsewhere and was imported
            unchanged += 1
            continue
        evidence = {
            "rule": rules.rules[one.number - 1], "number": one.number, **one.evidence.to_dict(), "as_of": at._asdict()
        }  # fmt: skip
        grounds: dict[str, Any] = {
            "campaign": campaign, "rater": one.rater, "reason": one.sentence[:300], "by": by, "rules": rules,
            "evidence": evidence,
        }  # fmt: skip
        decided = rater_exclude(**grounds, replace=replace) if one.action == "exclude" else rater_flag(**grounds)
        if decided.decision is None:
            unchanged += 1
        elif one.action == "exclude":
            excluded += 1
            reopened += decided.reopened
        else:
            flagged += 1
    return Applied(excluded, flagged, reopened, unchanged)


def _check_raters(campaign: Campaign, rule: ExcludeRaters, number: int) -> None:
    askable = [str(name) for name in rule.raters if "\x00" not in str(name)]  # PostgreSQL takes no such text
    known = set(Rater.objects.filter(project=campaign.project_id, pseudonym__in=askable).values_list(
        "pseudonym", flat=True
    ))  # fmt: skip
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
