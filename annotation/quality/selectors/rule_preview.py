"""Preview what rules would change: nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Criterion
from annotation.quality.selectors.decisions import filled
from annotation.quality.selectors.raters import Moment, Verdict, campaign_log, excluded_as_of, moment, verdicts
from annotation.rating.selectors.outputs import Outputs, outputs_of_datasets
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.enough import Sufficiency, sufficiency
from annotation.weighting.exclusion.applying import apply_rules
from annotation.weighting.exclusion.listed import ExcludeRaters
from annotation.weighting.exclusion.measured import AgreementBelow
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.exclusion.suspected import FEWEST
from annotation.weighting.groups import codes_of
from annotation.weighting.schemes import scheme_for_scale
from annotation.weighting.table import RatingTable

TARGET = 0.25  # needed to compute a half-width; the page shows only the width


@dataclass(frozen=True, eq=False)
class Certainty:
    """One criterion with the ratings of some raters."""

    n: int
    alpha: AlphaResult
    icc: IccResult
    width: Sufficiency
    systems: list[tuple[str, float]]  # each system's mean over items, best first; empty if its means are not ranked


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    criterion: str
    before: Certainty
    after: Certainty
    without_flagged: Certainty | None = None  # also without the raters who are only flagged, if there are any


@dataclass(frozen=True, eq=False)
class RulePreview:
    """What applying rules now would change."""

    at: Moment
    verdicts: list[Verdict]
    taken: list[tuple[str, int]]  # per rule: in words, and how many ratings it excludes beyond earlier rules
    n_ratings: int  # that count now
    n_leaving: int
    n_slots: int  # that replacing would reopen
    criteria: list[BeforeAfter]
    n_raters: int = 0  # whose ratings count now

    @property
    def excluded(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.action == "exclude"]

    @property
    def has_disagreeing(self) -> bool:
        """Return whether raters are struck because they agree too little with the others."""
        return any(verdict.evidence.measure == AgreementBelow.measure for verdict in self.verdicts)

    @property
    def is_between_two(self) -> bool:
        """Return whether two raters disagree: their agreement says nothing of which one is careless."""
        return self.has_disagreeing and self.n_raters < FEWEST

    @property
    def flagged(self) -> list[Verdict]:
        """Return each flagged rater once, with the first rule that flags."""
        first: dict[int, Verdict] = {}
        for verdict in self.verdicts:
            if verdict.action == "flag":
                first.setdefault(verdict.rater.pk, verdict)
        return list(first.values())


def rules_preview(campaign: Campaign, rules: Sequence[ExclusionRule], at: Moment | None = None) -> RulePreview:
    """Return the rules' results, and agreement and certainty without the ratings that they exclude."""
    at = at or moment(campaign)
    results = verdicts(campaign, rules, at)
    log = campaign_log(campaign, at)
    excluded = excluded_as_of(campaign, at.decision)
    before = [ExcludeRaters(raters=tuple(excluded))] if excluded else []
    counted = apply_rules(before, log).keep
    live = [rule for rule in rules if rule.live]
    outcome = apply_rules([*before, *live], log)
    leaving = [result.rater.pk for result in results if result.action == "exclude"]
    flagged = [result.rater.pseudonym for result in results if result.action == "flag"]
    unflagged = ~np.isin(log.raters.astype(np.str_), flagged)[log.code]
    value, response = log.need("value", "preview"), codes_of(log.need("response", "preview"))
    about = log.need("criterion", "preview").astype(np.str_)
    outputs, names = outputs_of_datasets([campaign.dataset_id])
    texts = np.asarray(log.need("response", "preview")).astype(np.int64)

    def certainty(criterion: Criterion, keep: np.ndarray) -> Certainty:
        mine = keep & (about == criterion.name)
        table = RatingTable(codes_of(response[mine]), log.code[mine], value[mine], n_raters=len(log.raters))
        low, high = criterion.scale.ends
        width = sufficiency(table, low, high, target=TARGET, scheme=scheme_for_scale(low, high))
        means = _system_means(texts[mine], criterion.scale.weighed(value[mine]), outputs, names)
        is_ranked = criterion.scale.ranked == "means"
        return Certainty(len(table), krippendorff_alpha(table), icc(table), width, means if is_ranked else [])

    return RulePreview(
        at=at,
        verdicts=results,
        taken=[(rule.sentence, count) for rule, count in zip(live, outcome.counts[len(before) :], strict=True)],
        n_ratings=int(counted.sum()),
        n_leaving=int(counted.sum() - outcome.keep.sum()),
        n_slots=filled(campaign).filter(rater__in=leaving).count(),
        criteria=[
            BeforeAfter(
                criterion.name,
                certainty(criterion, counted),
                certainty(criterion, outcome.keep),
                certainty(criterion, outcome.keep & unflagged) if flagged else None,
            )
            for criterion in Criterion.objects.filter(campaign=campaign)
        ],
        n_raters=len(np.unique(log.code[counted])),
    )


def _system_means(
    responses: IntArray, values: FloatArray, outputs: Outputs, names: Mapping[int, str]
) -> list[tuple[str, float]]:
    """Return each system's mean over items of the mean rating of its output, best first."""
    row, output = outputs.credited(responses)
    if not row.size:
        return []
    cells, cell = np.unique(np.stack([outputs.system[output], outputs.item[output]]), axis=1, return_inverse=True)
    of_cells = np.bincount(cell.ravel(), values[row]) / np.bincount(cell.ravel())
    means = [(names[int(system)], float(of_cells[cells[0] == system].mean())) for system in np.unique(cells[0])]
    return sorted(means, key=lambda mean: -mean[1])
