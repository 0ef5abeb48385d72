"""Raters who stand out before a campaign has any rule, and the rules that say so."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.campaigns.scales.base import BARS
from annotation.core.caching import cached
from annotation.models import Campaign
from annotation.quality.selectors.raters import (
    CACHE_SECONDS,
    Moment,
    RaterRow,
    current_rules,
    moment,
    rater_quality_rows,
    verdicts,
)
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.exclusion.suspected import FEW, Measures, rules_for


@dataclass(frozen=True)
class Suspects:
    """``reasons`` of each rater who stands out, by id, and the ``rules``, as records, that flag these raters."""

    reasons: dict[int, list[str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)
    few: bool = False  # whether there are too few raters to say how careful raters differ

    @property
    def rules_json(self) -> str:
        return json.dumps(self.rules)

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """Return id, pseudonym and reasons of each rater."""
        return [(pk, self.names[pk], "; ".join(reasons)) for pk, reasons in self.reasons.items()]


def suspects(campaign: Campaign, rows: Sequence[RaterRow] | None = None) -> Suspects:
    """Return the raters who stand out; none once the campaign has rules, or a decision about each of them."""
    if current_rules(campaign) is not None:
        return Suspects()
    at = moment(campaign)
    key = f"campaign-suspects-{campaign.pk}-{at.version}"
    found: Suspects = cached(key, lambda: _suspects(campaign, at, rows), CACHE_SECONDS)
    return found


def _suspects(campaign: Campaign, at: Moment, rows: Sequence[RaterRow] | None) -> Suspects:
    rows = rater_quality_rows(campaign, at) if rows is None else rows
    counted = [row for row in rows if row.state != "excluded"]
    rules = _rules(campaign, counted)
    if not rules:
        return Suspects()
    unmarked = {row.rater.pk for row in rows if row.state not in ("flagged", "excluded")}
    results = [verdict for verdict in verdicts(campaign, rules, at) if verdict.rater.pk in unmarked]
    reasons: dict[int, list[str]] = {}
    for verdict in results:
        evidence = verdict.evidence
        reason = f"{evidence.measure} {evidence.estimate:.2f}, below {evidence.threshold:g}"
        reasons.setdefault(verdict.rater.pk, []).append(reason)
    struck = sorted({verdict.number for verdict in results})
    return Suspects(
        reasons=reasons,
        names={verdict.rater.pk: verdict.rater.pseudonym for verdict in results},
        rules=[rules[number - 1].to_dict() for number in struck],
        few=sum(row.measures["n"].n > 0 for row in counted) < FEW,
    )


def _rules(campaign: Campaign, rows: Sequence[RaterRow]) -> list[ExclusionRule]:
    """Return the rules that fit what most of these raters do."""
    scales = [criterion.scale for criterion in campaign.criteria.all()]
    return rules_for(
        seconds=_measures(rows, "seconds"),
        agreement=_measures(rows, "agreement"),
        entropy=_measures(rows, "entropy"),
        points=max((len(scale.points) or BARS for scale in scales), default=BARS),
        has_gold=any(row.measures["gold"].n for row in rows),
        has_attention=any(row.measures["attention"].n for row in rows),
    )


def _measures(rows: Sequence[RaterRow], name: str) -> Measures:
    measures = [row.measures[name] for row in rows]
    return Measures([measure.estimate for measure in measures], [measure.n for measure in measures])
