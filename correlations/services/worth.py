"""What each row of a study is worth: as a ranker, in place of a rater, and in ratings saved."""

from dataclasses import replace

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results.common import ends
from correlations.results.worth import (
    AssumedScale,
    FittedScores,
    HelpedMean,
    LeftOutRater,
    MarginTest,
    PairsRight,
    Ranking,
    RowWorth,
    SameRating,
    Scale,
    StandIn,
    TestedRater,
)
from correlations.selectors.inputs import FloatArray, HumanSide
from correlations.services.inputs import Row, StudyInputs
from correlations.services.rated_outputs import RatedOutputs
from correlations.stats.helped import ENOUGH_OUTPUTS, TOO_FEW
from correlations.stats.offsets import same_offset_p
from correlations.stats.paired_outputs import NO_PAIR_OF, paired_outputs
from correlations.stats.ranking import pair_accuracies, soft_pairwise_accuracy
from correlations.stats.rater_agreement import agreement_with_others
from correlations.stats.segment_level import Grouping
from correlations.stats.worth import (
    MARGINS,
    Lead,
    RegressionEstimate,
    alternative_annotator_test,
    lead_over,
    on_rating_scale,
    regression_estimate,
)
from metrics.scoring.external import External
from metrics.scoring.metric import Metric


def study_worth(inputs: StudyInputs, outputs: RatedOutputs | None) -> tuple[RowWorth, ...]:
    """Return what each row is worth, over all outputs that are scored and rated, in any pair or in none."""
    return tuple(_row_worth(inputs, row, outputs) for row in inputs.rows)


def _row_worth(inputs: StudyInputs, row: Row, outputs: RatedOutputs | None) -> RowWorth:
    scores = row.statistics.sentence_scores
    estimates = [_estimate(inputs.human.mean[t], scores[t]) for t in range(len(scores))]
    defined = [estimate for estimate in estimates if estimate is not None and estimate.reason is None]
    without = sum(estimate.mean_error**2 for estimate in defined)
    saved = at_most = None
    if without:
        saved = 1 - sum(estimate.standard_error**2 for estimate in defined) / without
        at_most = 1 - sum((1 - estimate.at_most) * estimate.mean_error**2 for estimate in defined) / without
    stand_in, same_rating, fitted = _stand_in(inputs, row, outputs)
    return RowWorth(
        ranking=_ranking(inputs, row),
        stand_in=stand_in,
        same_rating=same_rating,
        fitted=fitted,
        means=tuple(
            _helped(system.name, inputs.human.mean[t], scores[t], estimate)
            for t, (system, estimate) in enumerate(zip(inputs.corpus.systems, estimates, strict=True))
        ),
        saved=saved,
        at_most=at_most,
    )


def _ranking(inputs: StudyInputs, row: Row) -> Ranking:
    scores = row.statistics.sentence_scores if row.metric.higher_is_better else -row.statistics.sentence_scores
    ratings, rng = inputs.human.mean, np.random.default_rng(inputs.specification.seed)
    found = pair_accuracies(scores.T, ratings.T, rng=np.random.default_rng(inputs.specification.seed + 1))
    return Ranking(
        pairwise=finite_or_none(found.pairwise),
        calibrated=finite_or_none(found.calibration.accuracy),
        held_out=finite_or_none(found.held_out),
        epsilon=finite_or_none(found.calibration.epsilon),
        chance=finite_or_none(found.chance),
        soft=finite_or_none(soft_pairwise_accuracy(scores, ratings, rng=rng)),
        within_systems=_pairs_right(inputs, scores, "system"),
        over_all=_pairs_right(inputs, scores, "all"),
    )


def _pairs_right(inputs: StudyInputs, scores: FloatArray, grouping: Grouping) -> PairsRight:
    """Return the accuracy over pairs of one system's outputs, or of any two; all rows have the same random numbers."""
    seed, ratings = inputs.specification.seed, inputs.human.mean
    metric, human, groups, outputs = paired_outputs(scores, ratings, grouping=grouping, rng=np.random.default_rng(seed))
    # Pairs of any two outputs have no groups to hold out.
    fold_rng = np.random.default_rng(seed + 1) if grouping == "system" else None
    found = pair_accuracies(metric, human, rng=fold_rng, groups=groups)
    return PairsRight(
        pairwise=finite_or_none(found.pairwise),
        calibrated=finite_or_none(found.calibration.accuracy),
        held_out=finite_or_none(found.held_out),
        epsilon=finite_or_none(found.calibration.epsilon),
        outputs=outputs,
        reason="" if found.calibration.reason is None else NO_PAIR_OF[grouping],
    )


def _estimate(ratings: FloatArray, scores: FloatArray) -> RegressionEstimate | None:
    """Estimate a system's mean rating over its scored outputs; None if too few of them are rated."""
    scored = np.isfinite(scores)
    both = scored & np.isfinite(ratings)
    if both.sum() < ENOUGH_OUTPUTS:
        return None
    return regression_estimate(ratings[both], scores[both], scores[scored])


def _helped(system: str, ratings: FloatArray, scores: FloatArray, estimate: RegressionEstimate | None) -> HelpedMean:
    scored = np.isfinite(scores)
    rated, n_scored = int((scored & np.isfinite(ratings)).sum()), int(scored.sum())
    if estimate is None:
        return HelpedMean(system, rated, n_scored, None, None, None, None, None, TOO_FEW)
    return HelpedMean(
        system=system,
        rated=rated,
        scored=n_scored,
        mean=estimate.mean,
        mean_interval=ends(estimate.mean_interval),
        estimate=finite_or_none(estimate.estimate),
        interval=ends(estimate.interval),
        saved=finite_or_none(estimate.saved),
        reason=estimate.reason or "",
    )


def _stand_in(
    inputs: StudyInputs, row: Row, outputs: RatedOutputs | None
) -> tuple[StandIn, SameRating, FittedScores | None]:
    if outputs is None:
        reason = UNKNOWN_RATERS if inputs.human.n_judgements else "no output is rated"
        return StandIn("ratings", 0, None, (), (), {}, reason), SameRating(None, None, {}, 0, 0, None, {}), None
    scores = row.statistics.sentence_scores[outputs.system, outputs.item]
    assumed = _assumed(inputs.human, row.metric)
    scale, candidate = _on_scale(scores, outputs, assumed)
    fitted = None if scale == "line" else _fitted(scores, outputs)
    tested = _with_agreement(_tested(scale, candidate, outputs), candidate, outputs)
    tested = replace(tested, assumed=assumed, same_offset_p=_same_offset_p(inputs, row, assumed))
    return tested, _same_rating(scale, candidate, outputs), fitted


def _same_offset_p(inputs: StudyInputs, row: Row, assumed: AssumedScale | None) -> float | None:
    """Test that no system stands out in how far scores lie from ratings; None unless they are on the raters' scale."""
    if assumed is None:
        return None
    offsets = assumed.placed(row.statistics.sentence_scores) - inputs.human.mean
    return finite_or_none(same_offset_p(offsets, rng=np.random.default_rng(inputs.specification.seed)))


def _with_agreement(tested: StandIn, candidate: FloatArray, outputs: RatedOutputs) -> StandIn:
    """Return the test with how far each tested rater agrees with the others."""
    if not tested.raters:
        return tested
    index_of = {rater: index for index, rater in enumerate(outputs.raters.tolist())}
    r, p = agreement_with_others(outputs.given, candidate)
    raters = (
        replace(each, agreement=finite_or_none(r[index_of[each.rater]]), agreement_p=float(p[index_of[each.rater]]))
        for each in tested.raters
    )
    return replace(tested, raters=tuple(raters))


def _same_rating(scale: Scale, candidate: FloatArray, outputs: RatedOutputs) -> SameRating:
    one_rating = _one_rating(candidate, outputs)
    same = _tested(scale, one_rating, outputs)
    direct, lead_p = _leads(candidate, one_rating, outputs, same)
    return SameRating(
        rating=outputs.mean,
        advantage=same.advantage,
        winning_rates=_winning_rates(same),
        closer=direct.closer,
        farther=direct.farther,
        lead=finite_or_none(direct.difference) if lead_p else None,
        lead_p=lead_p,
    )


def _fitted(scores: FloatArray, outputs: RatedOutputs) -> FittedScores:
    candidate = _by_lines(scores, outputs)
    tested = _tested("line", candidate, outputs)
    direct, lead_p = _leads(candidate, _one_rating(candidate, outputs), outputs, tested)
    lead = finite_or_none(direct.difference) if lead_p else None
    return FittedScores(tested.advantage, _winning_rates(tested), lead, lead_p)


def _one_rating(candidate: FloatArray, outputs: RatedOutputs) -> FloatArray:
    return np.where(np.isfinite(candidate), outputs.mean, np.nan)


def _winning_rates(tested: StandIn) -> dict[str, float]:
    return {whom: margin.winning_rate for whom, margin in tested.margins.items()}


def _leads(
    candidate: FloatArray, one_rating: FloatArray, outputs: RatedOutputs, tested: StandIn
) -> tuple[Lead, dict[str, float | None]]:
    """Return a candidate's lead over one rating for all, and by the margins that were tested whether it is larger."""
    leads = {
        whom: lead_over(outputs.given, candidate, one_rating, margin=margin.epsilon)
        for whom, margin in tested.margins.items()
    }
    direct = next(iter(leads.values()), None) or lead_over(outputs.given, candidate, one_rating)
    return direct, {whom: finite_or_none(each.p) for whom, each in leads.items()}


def _tested(scale: Scale, candidate: FloatArray, outputs: RatedOutputs) -> StandIn:
    n_outputs = int(np.isfinite(candidate).sum())
    if len(outputs.raters) < 2:
        return StandIn(scale, n_outputs, None, (), (), {}, "one rater rated all outputs: there is no other to compare")
    tests = {
        key: alternative_annotator_test(outputs.given, candidate, epsilon=epsilon) for key, epsilon in MARGINS.items()
    }
    whole = next(iter(tests.values()))
    tested = whole.tested
    raters = zip(outputs.raters.tolist(), whole.n_items.tolist(), whole.advantages.tolist(), strict=True)
    left_out = zip(outputs.raters[~tested].tolist(), whole.n_items[~tested].tolist(), strict=True)
    return StandIn(
        scale=scale,
        outputs=n_outputs,
        advantage=finite_or_none(whole.advantage),
        raters=tuple(TestedRater(*each) for each, counts in zip(raters, tested.tolist(), strict=True) if counts),
        left_out=tuple(LeftOutRater(*each) for each in left_out),
        margins={
            key: MarginTest(
                epsilon=MARGINS[key],
                winning_rate=test.winning_rate,
                passed=test.passed,
                p=tuple(test.p_values[tested].tolist()),
                p_corrected=tuple(test.adjusted[tested].tolist()),
                beaten=int(test.beaten.sum()),
            )
            for key, test in tests.items()
            if tested.any()
        },
        reason=whole.reason or "",
    )


def _on_scale(scores: FloatArray, outputs: RatedOutputs, assumed: AssumedScale | None) -> tuple[Scale, FloatArray]:
    """Put scores on the scale of the ratings; a judge's own scale, with both bounds stated, decides by itself."""
    if assumed is None:
        return "line", _by_lines(scores, outputs)
    same = (assumed.low, assumed.high) == (assumed.rating_low, assumed.rating_high)
    if same and not assumed.lower_is_better:
        return "ratings", scores
    return "bounds", assumed.placed(scores)


def _assumed(human: HumanSide, metric: Metric) -> AssumedScale | None:
    """Return the scales of imported scores and of the ratings; None if one of them lacks an end."""
    low, high = human.table.low, human.table.high
    if not (isinstance(metric, External) and np.isfinite([metric.low, metric.high, low, high]).all()):
        return None
    return AssumedScale(metric.low, metric.high, not metric.higher_is_better, float(low), float(high))


def _by_lines(scores: FloatArray, outputs: RatedOutputs) -> FloatArray:
    return on_rating_scale(scores, outputs.means, outputs.item)
