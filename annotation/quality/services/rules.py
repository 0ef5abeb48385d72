"""Apply registered rules: exclude and flag raters by decisions that say why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.campaigns.services.gate import campaign_alone
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.models import (
    Campaign,
    CampaignState,
    DecisionAction,
    Participation,
    QualityRules,
    RaterDecision,
    User,
)
from annotation.notifications.kinds.raters_excluded import RATERS_EXCLUDED
from annotation.notifications.services.recording import notification_record
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.raters import APPLIED, Moment, Verdict, moment, verdict_record, verdicts
from annotation.quality.services.decisions import LONGEST_REASON, rater_decide
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
    """Exclude and flag raters by the rules; each decision names the rule and its evidence.

    ``seen`` is the moment that a preview showed. The campaign is locked, so that its log ends at the recorded moment.
    """
    campaign = campaign_alone(campaign.pk)
    if rules.campaign_id != campaign.pk:
        raise AnnotationError(f"Version {rules.version} of the rules belongs to another campaign.")
    if campaign.state == CampaignState.DRAFT:
        raise AnnotationError("The campaign is a draft; rules can be applied after launch.")
    at = _moment(campaign, seen)
    results = verdicts(campaign, rules_from_data(rules.rules), at)
    applied = _decide_all(rules, results, at, replace=replace, by=by)
    audit_record(
        verb=APPLIED,
        summary=(
            f"Version {rules.version} of the rules applied: {counted(applied.excluded, 'rater')} excluded, "
            f"{applied.flagged:,} flagged, {counted(applied.reopened, 'slot')} reopened."
        ),
        campaign=campaign,
        by=by,
        data={"rules": rules.version, "as_of": at._asdict(), "replace": replace, "verdicts": verdict_record(results)},
    )
    if applied.excluded:
        last = RaterDecision.objects.filter(campaign=campaign).latest("pk")
        notification_record(
            kind=RATERS_EXCLUDED.key,
            project=campaign.project,
            key=f"{campaign.pk}:{last.pk}",
            facts={
                "campaign": campaign.name,
                "campaign_pk": campaign.pk,
                "raters": applied.excluded,
                "rules": rules.version,
            },
        )
    return applied


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
    rules: QualityRules, results: Sequence[Verdict], at: Moment, *, replace: bool, by: User | None
) -> Applied:
    joined = set(Participation.objects.filter(campaign=rules.campaign_id).values_list("rater_id", flat=True))
    n = Counter[str]()
    for verdict in results:
        if verdict.rater.pk not in joined:  # known from imported ratings only
            n["unchanged"] += 1
            continue
        action = DecisionAction(verdict.action)
        evidence = {
            "rule": rules.rules[verdict.number - 1],
            "number": verdict.number,
            **verdict.evidence.to_dict(),
            "as_of": at._asdict(),
        }
        decided = rater_decide(
            action,
            campaign=rules.campaign,
            rater=verdict.rater,
            reason=verdict.sentence[:LONGEST_REASON],
            by=by,
            rules=rules,
            evidence=evidence,
            replace=replace and action == DecisionAction.EXCLUDE,
        )
        n[verdict.action if decided.decision else "unchanged"] += 1
        n["reopened"] += decided.reopened
    return Applied(n["exclude"], n["flag"], n["reopened"], n["unchanged"])
