"""The human ceiling of each row of a study, over the items that the row counts."""

import math
from dataclasses import replace

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results.ceiling import CoefficientCeiling, RowCeiling
from correlations.results.common import Ends
from correlations.selectors.inputs import FloatArray
from correlations.services.inputs import StudyInputs
from correlations.services.rated_outputs import RatedOutputs
from correlations.stats.ceiling import ONE_RATER, LeftOutRaters, SplitHalves, leave_one_rater_out, split_halves
from correlations.stats.left_out_ends import LeftOutEnds, left_out_ends

NOTHING_RATED = "no output is rated"


def study_ceilings(inputs: StudyInputs, outputs: RatedOutputs | None) -> tuple[RowCeiling, ...]:
    """Return each row's ceiling; rows that count the same items share the halves."""
    keys = inputs.specification.coefficients
    if outputs is None:
        return (_none(inputs, UNKNOWN_RATERS if inputs.human.n_judgements else NOTHING_RATED),) * len(inputs.rows)
    places: dict[bytes, int] = {}
    group = [places.setdefault(np.packbits(row.counted).tobytes(), len(places)) for row in inputs.rows]
    masks = [inputs.rows[group.index(index)].counted for index in range(len(places))]
    sampling = replace(inputs.sampling, seed=inputs.specification.seed + 2)
    halves = split_halves(inputs.human.raters, masks, inputs.pairs, len(inputs.corpus.systems), sampling)
    if len(outputs.raters) < 2:
        return (_none(inputs, ONE_RATER),) * len(inputs.rows)
    left_out = leave_one_rater_out(outputs.given, _scores(inputs, outputs), coefficients=keys)
    lead = inputs.specification.coefficients[0]
    sure = left_out_ends(outputs.given, _scores(inputs, outputs), outputs.item, coefficient=lead)
    rows = (_row(halves[index], left_out[row], keys) for row, index in enumerate(group))
    return tuple(_with_ends(row, lead, ends) for row, ends in zip(rows, sure, strict=True))


def _with_ends(row: RowCeiling, lead: str, ends: LeftOutEnds) -> RowCeiling:
    """Return the row with the intervals of its leading coefficient over single outputs."""
    of_lead = replace(
        row.coefficients[lead],
        one_rater_ends=_defined(ends.rater),
        metric_ends=_defined(ends.metric),
        difference_ends=_defined(ends.difference),
    )
    return replace(row, coefficients={**row.coefficients, lead: of_lead})


def _scores(inputs: StudyInputs, outputs: RatedOutputs) -> FloatArray:
    """Return the rows' scores of the rated outputs that the row counts, high ones the better; NaN for others."""
    scores = np.full((len(inputs.rows), outputs.system.size), np.nan)
    for of_row, row in zip(scores, inputs.rows, strict=True):
        values = row.statistics.sentence_scores[outputs.system, outputs.item]
        counted = inputs.of_pair(row.counted)[outputs.system, outputs.item]
        of_row[counted] = (values if row.metric.higher_is_better else -values)[counted]
    return scores


def _row(halves: SplitHalves, left_out: LeftOutRaters, keys: tuple[str, ...]) -> RowCeiling:
    return RowCeiling(
        coefficients={
            key: CoefficientCeiling(
                halves=finite_or_none(halves.halves[key]),
                ceiling=finite_or_none(halves.ceiling[key]),
                reason=halves.reasons[key],
                one_rater=finite_or_none(left_out.rater[key]),
                metric=finite_or_none(left_out.metric[key]),
                raters=left_out.n_raters[key],
            )
            for key in keys
        },
        splits=halves.n_splits,
        raters_of_output=finite_or_none(halves.raters_of_output),
        one_rater_reason=left_out.reason,
    )


def _defined(ends: Ends) -> Ends | None:
    return ends if math.isfinite(ends[0]) else None


def _none(inputs: StudyInputs, reason: str) -> RowCeiling:
    none = CoefficientCeiling(None, None, reason, None, None, 0)
    return RowCeiling(dict.fromkeys(inputs.specification.coefficients, none), 0, None, reason)
