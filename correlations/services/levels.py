"""How each row of a study agrees with the raters over systems and over outputs, whatever pairs are compared."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.core.numbers import finite_or_none
from correlations.results.common import Ends, ends
from correlations.results.levels import (
    BY_LINE,
    BY_RANGE,
    ROUNDED_DOWN,
    LevelEstimate,
    OutputLevel,
    RowLevels,
    ScaledErrors,
    SystemEstimate,
    SystemLevel,
    SystemPoint,
    WithoutSystem,
)
from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.services.draws import Report, RowOutputs, row_outputs
from correlations.services.inputs import StudyInputs
from correlations.services.system_draws import RowDraws, study_system_draws
from correlations.stats.draws import Draws
from correlations.stats.intervals import Interval
from correlations.stats.parameters import ParameterValue, system_level
from correlations.stats.resampling import replicates_interval
from correlations.stats.segment_level import (
    GROUPINGS,
    Grouping,
    on_scale_by_range,
    rating_errors,
    segment_level_correlation,
)
from correlations.stats.system_intervals import over_items, over_raters, over_systems
from correlations.stats.system_level import LeftOut
from correlations.stats.worth import on_rating_scale
from metrics.scoring.qe.scale import RatingScale

NO_SCALE = "the ratings have no lowest and highest value"
NO_STEP = "the ratings are not whole steps apart"


@dataclass(frozen=True)
class Replicates:
    """A row's draws."""

    draws: Draws
    place: int

    def systems(self, key: str) -> FloatArray:
        return np.asarray(self.draws.over_items[key][self.place])

    def nested(self, key: str) -> FloatArray:
        return np.asarray(self.draws.over_items_and_systems[key][self.place])

    @property
    def outputs(self) -> FloatArray:
        return np.asarray(self.draws.outputs[self.place])


def study_levels(rows: RowOutputs, draws: Draws | None, report: Report) -> tuple[RowLevels, ...]:
    """Return the levels of each row, over its outputs that are scored and rated."""
    drawn = study_system_draws(rows, report)
    return tuple(_row_levels(rows, index, draws, drawn[index]) for index in range(len(rows.values)))


def _row_levels(rows: RowOutputs, index: int, draws: Draws | None, drawn: RowDraws) -> RowLevels:
    inputs, value, row = rows.inputs, rows.values[index], rows.inputs.rows[index]
    outputs = row_outputs(inputs, row)
    replicates = None if draws is None else Replicates(draws, rows.place(index, outputs))
    return RowLevels(
        system=_system_level(inputs, value, outputs, (replicates, drawn), 1.0 if row.metric.higher_is_better else -1.0),
        outputs=tuple(_output_level(inputs, value, outputs, replicates, grouping) for grouping in GROUPINGS),
        errors=_errors(inputs, value, outputs),
    )


def _system_level(
    inputs: StudyInputs,
    value: ParameterValue,
    outputs: BoolArray,
    resampled: tuple[Replicates | None, RowDraws],
    sign: float,
) -> SystemLevel:
    drawn = resampled[1]
    names = [system.name for system in inputs.corpus.systems]
    result, scores = system_level(value, inputs.human.mean, names, outputs)
    return SystemLevel(
        systems=tuple(_point(name, sign * scores[t], inputs.human.mean[t][outputs[t]]) for t, name in enumerate(names)),
        coefficients={
            key: _system_estimate(key, coefficient, resampled, (len(names), result.pvalues.get(key, np.nan)))
            for key, coefficient in result.values.items()
        },
        without=_without(result.most_influential) if result.reason is None else None,
        reason=result.reason or "",
        raters=drawn.n_raters,
        raters_reason=drawn.raters_reason,
    )


def _system_estimate(
    key: str, value: float, resampled: tuple[Replicates | None, RowDraws], of: tuple[int, float]
) -> SystemEstimate:
    """Return a coefficient; ``of`` holds the number of systems, and p."""
    (replicates, drawn), (n_systems, p) = resampled, of

    def interval(draws: FloatArray | None, of: Callable[..., Interval], *settings: float, **more: bool) -> Ends | None:
        return None if draws is None else ends(of(value, draws, *settings, **more))

    nested = replicates.nested(key) if replicates else None
    return SystemEstimate(
        value=finite_or_none(value),
        over_items=interval(replicates.systems(key) if replicates else None, over_items),
        over_items_and_systems=interval(nested, over_systems, n_systems, alone=False),
        p=finite_or_none(p),
        over_systems=interval(drawn.systems(key), over_systems, n_systems, alone=True),
        over_raters=interval(drawn.raters(key), over_raters, drawn.reach),
        over_items_systems_and_raters=interval(drawn.all_three(key), over_systems, n_systems, alone=False),
    )


def _without(found: LeftOut | None) -> WithoutSystem | None:
    if found is None:
        return None
    return WithoutSystem(found.system, {key: finite_or_none(each) for key, each in found.values.items()})


def _point(name: str, score: float, ratings: FloatArray) -> SystemPoint:
    rated = ratings.size > 0
    spread = float(ratings.std(ddof=1)) if ratings.size > 1 else None
    return SystemPoint(name, int(ratings.size), finite_or_none(score), float(ratings.mean()) if rated else None, spread)


def _output_level(
    inputs: StudyInputs, value: ParameterValue, outputs: BoolArray, replicates: Replicates | None, grouping: Grouping
) -> OutputLevel:
    scores = np.where(outputs, value.scores, np.nan)
    result = segment_level_correlation(scores, inputs.human.mean, grouping=grouping)
    of_pearson = replicates.outputs if replicates is not None and grouping == "all" else None
    return OutputLevel(
        grouping=grouping,
        outputs=result.n,
        coefficients={
            key: LevelEstimate(
                value=finite_or_none(coefficient),
                over_items=_interval(of_pearson if key == "pearson" else None, result.reason),
                over_items_and_systems=None,
                p=finite_or_none(result.pvalues.get(key, np.nan)),
            )
            for key, coefficient in result.values.items()
        },
        groups=result.groups,
        reason=result.reason or "",
    )


def _interval(replicates: FloatArray | None, reason: str | None) -> Ends | None:
    return None if replicates is None or reason else ends(replicates_interval(replicates).interval)


def _errors(inputs: StudyInputs, value: ParameterValue, outputs: BoolArray) -> tuple[ScaledErrors, ...]:
    low, high, ratings = inputs.human.table.low, inputs.human.table.high, inputs.human.mean
    scores = np.where(outputs, value.scores, np.nan)
    items = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    line = on_rating_scale(scores.ravel(), ratings.ravel(), items.ravel()).reshape(scores.shape)
    if not np.isfinite([low, high]).all():
        none = [_no_errors(scaled, NO_SCALE) for scaled in (BY_RANGE, ROUNDED_DOWN)]
        return (*none, _scaled_errors(BY_LINE, line, ratings))
    step = RatingScale.of(inputs.human.table.value, low=low, high=high).step
    rounded = on_scale_by_range(scores, low=low, high=high, step=step, rounding="down") if step else None
    return (
        _scaled_errors(BY_RANGE, on_scale_by_range(scores, low=low, high=high), ratings),
        _no_errors(ROUNDED_DOWN, NO_STEP)
        if rounded is None
        else _scaled_errors(ROUNDED_DOWN, rounded, ratings, step=step),
        _scaled_errors(BY_LINE, line, ratings),
    )


def _no_errors(scaled: str, reason: str) -> ScaledErrors:
    return ScaledErrors(scaled, None, 0, None, None, None, None, reason)


def _scaled_errors(scaled: str, placed: FloatArray, ratings: FloatArray, *, step: float | None = None) -> ScaledErrors:
    result = rating_errors(placed, ratings)
    return ScaledErrors(
        scaled=scaled,
        step=step,
        outputs=result.n,
        mae=finite_or_none(result.mae),
        rmse=finite_or_none(result.rmse),
        constant_mae=finite_or_none(result.constant_mae),
        constant_rmse=finite_or_none(result.constant_rmse),
        reason=result.reason or "",
    )
