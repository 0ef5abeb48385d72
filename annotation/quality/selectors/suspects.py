"""Raters who stand out, or whom the campaign's rules strike but no decision has been made about, and these rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from annotation.campaigns.scales.base import BARS
from annotation.campaigns.selectors import too_fast, too_fast_because
from annotation.core.caching import cached
from annotation.models import Campaign, CampaignState, QualityRules
from annotation.quality.selectors.raters import (
    CACHE_SECONDS,
    Moment,
    RaterRow,
    Verdict,
    current_rules,
    moment,
    others_agreement,
    rater_quality_rows,
    verdicts,
)
from annotation.weighting.exclusion.measured import AgreementBelow
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.exclusion.suspected import (
    FEW,
    FEWEST,
    Measures,
    rules_for,
    too_fast_among,
    typical_seconds,
)

MOST_LEFT_OUT = (
    20  # raters who are left out in turn, at a cost for each; fewer than FEW of them may have enough answers
)


@dataclass(frozen=True)
class Suspects:
    """``reasons`` of each rater who stands out, by id, and the ``rules``, as records, that flag these raters.

    ``version`` is that of the campaign's own rules if these strike the raters; 0 without rules.
    """

    reasons: dict[int, list[str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)
    few: bool = False  # whether there are too few raters to say how careful raters differ
    version: int = 0

    @property
    def excluding(self) -> list[dict[str, Any]]:
        """Return the rules that would exclude these raters."""
        return [{**record, "action": "exclude"} if "action" in record else record for record in self.rules]

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """Return id, pseudonym and reasons of each rater."""
        return [(pk, self.names[pk], "; ".join(reasons)) for pk, reasons in self.reasons.items()]


def suspects(campaign: Campaign, rows: Sequence[RaterRow] | None = None) -> Suspects:
    """Return the raters who stand out, by the campaign's rules if it has any; none about whom there is a decision."""
    rules, at = current_rules(campaign), moment(campaign)
    version = rules.version if rules else 0
    key = f"campaign-suspects-{campaign.pk}-{at.version}-{version}"
    found: Suspects = cached(key, lambda: _suspects(campaign, at, rows, rules), CACHE_SECONDS)
    return found


def _suspects(campaign: Campaign, at: Moment, rows: Sequence[RaterRow] | None, own: QualityRules | None) -> Suspects:
    rows = rater_quality_rows(campaign, at) if rows is None else rows
    counted = [row for row in rows if row.state != "excluded"]
    rules = rules_from_data(own.rules) if own else _rules(campaign, counted, at)
    if not rules or (own and campaign.imported):  # rules are not applied to raters who did not join
        return Suspects()
    decided = set(campaign.decisions.filter(pk__lte=at.decision).values_list("rater", flat=True))
    results = [verdict for verdict in verdicts(campaign, rules, at) if verdict.rater.pk not in decided]
    if sum(row.measures["agreement"].n > 0 for row in counted) < FEWEST:  # of two who disagree, neither stands out
        results = [verdict for verdict in results if verdict.evidence.measure != AgreementBelow.measure]
    reasons: dict[int, list[str]] = {}
    for verdict in results:
        reasons.setdefault(verdict.rater.pk, []).append(_reason(verdict))
    struck = sorted({verdict.number for verdict in results})
    return Suspects(
        reasons=reasons,
        names={verdict.rater.pk: verdict.rater.pseudonym for verdict in results},
        rules=[rules[number - 1].to_dict() for number in struck],
        few=sum(row.measures["n"].n > 0 for row in counted) < FEW,
        version=own.version if own else 0,
    )


def _reason(verdict: Verdict) -> str:
    evidence = verdict.evidence
    if isnan(evidence.estimate) or not isnan(evidence.pvalue):
        return verdict.sentence
    return f"{evidence.measure} {evidence.estimate:.2f}, below {evidence.threshold:g}"


def usual_seconds(campaign: Campaign) -> tuple[float, str]:
    """Return the seconds below which an answer is too fast here, and where they come from, as a sentence.

    They are those of the campaign's raters, once some have answered enough; before, those that its texts take.
    """
    at = moment(campaign)
    measures = _measures([row for row in rater_quality_rows(campaign, at) if row.state != "excluded"], "seconds")
    rule = None if campaign.state == CampaignState.DRAFT else too_fast_among(measures)
    if rule is None:
        seconds = too_fast(campaign)
        return seconds, f"{seconds} s by the length of the texts: {too_fast_because(campaign)}."
    typical = typical_seconds(measures)
    return rule.seconds, (
        f"{rule.seconds:g} s by these raters’ own times: far below the {typical:.1f} s of most of them, and at most a "
        "third of it."
    )


def _rules(campaign: Campaign, rows: Sequence[RaterRow], at: Moment) -> list[ExclusionRule]:
    """Return the rules that fit what most of these raters do."""
    scales = [criterion.scale for criterion in campaign.criteria.all()]
    compared = sum(row.measures["agreement"].n > 0 for row in rows)
    names = [row.rater.pseudonym for row in rows]
    return rules_for(
        seconds=_measures(rows, "seconds"),
        agreement=_measures(rows, "agreement"),
        entropy=_measures(rows, "entropy"),
        others=others_agreement(campaign, at, names) if FEWEST <= compared < MOST_LEFT_OUT else None,
        points=max((len(scale.points) or BARS for scale in scales), default=BARS),
        has_gold=any(row.measures["gold"].n for row in rows),
        has_attention=any(row.measures["attention"].n for row in rows),
    )


def _measures(rows: Sequence[RaterRow], name: str) -> Measures:
    measures = [row.measures[name] for row in rows]
    return Measures([measure.estimate for measure in measures], [measure.n for measure in measures])
