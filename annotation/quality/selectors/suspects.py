"""Raters who stand out before a campaign has any rule, and the rules that say so."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
from annotation.weighting.exclusion.measured import AgreementBelow, EntropyBelow, MeasuredRule, MedianSecondsBelow
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.exclusion.suspected import rules_for

MEASURED_BY: dict[str, type[MeasuredRule]] = {
    "seconds": MedianSecondsBelow,
    "agreement": AgreementBelow,
    "entropy": EntropyBelow,
}


@dataclass(frozen=True)
class Suspects:
    """``reasons`` of each rater who stands out, by id, and the ``rules``, as records, that flag these raters."""

    reasons: dict[int, list[str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)

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
    rules = _rules(rows)
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
    )


def _rules(rows: Sequence[RaterRow]) -> list[ExclusionRule]:
    """Return the rules that fit what most raters do, of those who are not excluded and have given enough answers."""
    counted = [row for row in rows if row.state != "excluded"]

    def known(name: str) -> list[float]:
        after = int(MEASURED_BY[name].suggested["after"])
        measures = [row.measures[name] for row in counted]
        return [each.estimate if each.n >= after and each.is_defined else np.nan for each in measures]

    return rules_for(
        seconds=known("seconds"),
        agreement=known("agreement"),
        entropy=known("entropy"),
        has_gold=any(row.measures["gold"].n for row in counted),
        has_attention=any(row.measures["attention"].n for row in counted),
    )
