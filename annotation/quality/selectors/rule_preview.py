"""What rules would change, before they are applied: nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Criterion
from annotation.quality.selectors.decisions import filled
from annotation.quality.selectors.raters import Moment, Verdict, campaign_log, excluded_as_of, moment, verdicts
from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.enough import Sufficiency, sufficiency
from annotation.weighting.exclusion.applying import apply_rules
from annotation.weighting.exclusion.listed import ExcludeRaters
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.groups import codes_of
from annotation.weighting.schemes import scheme_for_scale
from annotation.weighting.table import RatingTable

TARGET = 0.25  # of the half-width, in units of the weight; only the width itself is shown here


@dataclass(frozen=True, eq=False)
class Certainty:
    """One criterion with the ratings of one choice of raters."""

    n: int
    alpha: AlphaResult
    icc: IccResult
    width: Sufficiency


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    criterion: str
    before: Certainty
    after: Certainty


@dataclass(frozen=True, eq=False)
class RulePreview:
    """What applying rules now would do."""

    at: Moment
    verdicts: list[Verdict]
    taken: list[tuple[str, int]]  # per rule: in words, and how many ratings it takes that earlier ones left
    n_ratings: int  # that count now
    n_leaving: int
    n_places: int  # that replacing would open again
    criteria: list[BeforeAfter]

    @property
    def excluded(self) -> list[Verdict]:
        return [one for one in self.verdicts if one.action == "exclude"]

    @property
    def flagged(self) -> list[Verdict]:
        """Each rater once, by the first rule that flags."""
        found: dict[int, Verdict] = {}
        for one in self.verdicts:
            if one.action == "flag":
                found.setdefault(one.rater.pk, one)
        return list(found.values())


def rules_preview(campaign: Campaign, rules: Sequence[ExclusionRule], at: Moment | None = None) -> RulePreview:
    """Whom the rules strike, and agreement and certainty without the ratings they take."""
    at = at or moment(campaign)
    found = verdicts(campaign, rules, at)
    log = campaign_log(campaign, at)
    out = excluded_as_of(campaign, at.decision)
    before = [ExcludeRaters(raters=tuple(out))] if out else []
    counted = apply_rules(before, log).keep
    live = [rule for rule in rules if rule.live]
    outcome = apply_rules([*before, *live], log)
    leaving = [one.rater.pk for one in found if one.action == "exclude"]
    value, response = log.need("value", "preview"), codes_of(log.need("response", "preview"))
    about = log.need("criterion", "preview").astype(np.str_)

    def certainty(criterion: Criterion, keep: np.ndarray) -> Certainty:
        mine = keep & (about == criterion.name)
        table = RatingTable(codes_of(response[mine]), log.code[mine], value[mine], n_raters=len(log.raters))
        return certainty_of(table, criterion)

    return RulePreview(
        at=at,
        verdicts=found,
        taken=[(rule.sentence, count) for rule, count in zip(live, outcome.counts[len(before) :], strict=True)],
        n_ratings=int(counted.sum()),
        n_leaving=int(counted.sum() - outcome.keep.sum()),
        n_places=filled(campaign).filter(rater__in=leaving).count(),
        criteria=[
            BeforeAfter(criterion.name, certainty(criterion, counted), certainty(criterion, outcome.keep))
            for criterion in Criterion.objects.filter(campaign=campaign)
        ],
    )


def certainty_of(table: RatingTable, criterion: Criterion) -> Certainty:
    low, high = criterion.scale.ends
    scheme = scheme_for_scale(low, high)
    return Certainty(
        n=len(table),
        alpha=krippendorff_alpha(table),
        icc=icc(table),
        width=sufficiency(table, low, high, target=TARGET, scheme=scheme),
    )
