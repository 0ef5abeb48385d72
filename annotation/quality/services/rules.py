"""Apply registered rules: exclude and flag raters by decisions that say why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.campaigns.services.gate import campaign_alone
from annotation.campaigns.services.rules import _counted
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Participation, QualityRules, User
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.raters import APPLIED, Moment, Verdict, moment, verdict_record, verdicts
from annotation.quality.services.decisions import rater_exclude, rater_flag
from annotation.weighting.exclusion.registry import rules_from_data


@dataclass(frozen=True)
class Applied:
    """The result of applying rules."""

    excluded: int
    flagged: int
    reopened: int
    unchanged: int  # already excluded or flagged


@transaction.atomic
def rules_apply(
    *,
    campaign: Campaign,
    rules: QualityRules,
    replace: bool = False,
    seen: Moment | None = None,
    by: User | None = None,
) -> Applied:
    """Exclude and flag raters by the rules, each by a decision that names the rule and its evidence.

    ``seen`` applies the rules as of the moment that a preview showed. The campaign is locked, so that the log ends
    where the audit log says.
    """
    campaign = campaign_alone(campaign.pk)
    if rules.campaign_id != campaign.pk:
        raise AnnotationError(f"Version {rules.version} of the rules belongs to another campaign.")
    if campaign.state == CampaignState.DRAFT:
        raise AnnotationError("The campaign is a draft; rules can be applied after launch.")
    at = _moment(campaign, seen)
    found = verdicts(campaign, rules_from_data(rules.rules), at)
    done = _decide_all(campaign, rules, found, at, replace=replace, by=by)
    audit_record(
        verb=APPLIED,
        summary=(
            f"Version {rules.version} of the rules applied: {_counted(done.excluded, 'rater')} excluded, "
            f"{done.flagged:,} flagged, {_counted(done.reopened, 'slot')} reopened."
        ),
        campaign=campaign,
        by=by,
        data={"rules": rules.version, "as_of": at._asdict(), "replace": replace, "verdicts": verdict_record(found)},
    )
    return done


def _moment(campaign: Campaign, seen: Moment | None) -> Moment:
    """Return the moment to apply the rules at; refuse if the preview is older than the newest decision."""
    now = moment(campaign)
    if seen is None:
        return now
    if seen.decision != now.decision:
        raise AnnotationError(
            "There are newer decisions about raters than this preview shows; check the preview again."
        )
    return Moment(min(seen.rating, now.rating), min(seen.check, now.check), now.decision)


def _decide_all(
    campaign: Campaign, rules: QualityRules, found: Sequence[Verdict], at: Moment, *, replace: bool, by: User | None
) -> Applied:
    joined = set(Participation.objects.filter(campaign=campaign).values_list("rater_id", flat=True))
    excluded = flagged = reopened = unchanged = 0
    for verdict in found:
        if verdict.rater.pk not in joined:  # known from imported ratings only
            unchanged += 1
            continue
        evidence = {
            "rule": rules.rules[verdict.number - 1],
            "number": verdict.number,
            **verdict.evidence.to_dict(),
            "as_of": at._asdict(),
        }
        grounds: dict[str, Any] = {
            "campaign": campaign,
            "rater": verdict.rater,
            "reason": verdict.sentence[:300],
            "by": by,
            "rules": rules,
            "evidence": evidence,
        }
        decided = rater_exclude(**grounds, replace=replace) if verdict.action == "exclude" else rater_flag(**grounds)
        if decided.decision is None:
            unchanged += 1
        elif verdict.action == "exclude":
            excluded += 1
            reopened += decided.reopened
        else:
            flagged += 1
    return Applied(excluded, flagged, reopened, unchanged)
