"""The table of a study: coefficients with both intervals, items left out, clamped scores, and comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import itemgetter

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results import study as results
from correlations.results.common import Ends, ends
from correlations.selectors.inputs import BoolArray
from correlations.services.inputs import Row, StudyInputs, mean_rating
from correlations.services.progress import StagedProgress
from correlations.services.sharing import Resampler
from correlations.services.unit_draws import UnitDraws
from correlations.stats import sampled_units
from correlations.stats.intervals import NOWHERE
from correlations.stats.resampling import BootstrapSummary, RowBootstrap, bootstrap_difference
from correlations.stats.sampled_units import MetricResult, StudyResult, sampled_unit_correlation
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.significance import holm_correction
from correlations.stats.units import StudyMetric, UnitSampling, too_few_units
from metrics.scoring.metric import Metric
from metrics.services.scoring import unusable_reason

NO_BOOTSTRAP = "no bootstrap was requested"
NOTHING_COUNTS = "no rated output counts in any row"


def study_table(inputs: StudyInputs, progress: StagedProgress, resampler: Resampler) -> results.Table:
    """Compute rows, pairs, comparisons, and the observations of the first assignment."""
    sampling, metrics = inputs.sampling, [inputs.study_metric(row) for row in inputs.rows]
    report = progress.stage("Table")
    study = sampled_unit_correlation(metrics, inputs.human.mean, inputs.pairs, sampling, progress=report)
    bootstrap = UnitBootstrap(inputs, resampler, progress)
    over_items = bootstrap(metrics, sampling, "Intervals over items")
    over_raters = bootstrap(metrics, sampling, "Intervals over raters", raters=True)
    observed = sampled_units.unit_observations(metrics, inputs.human.mean, inputs.pairs, sampling)
    names = [system.name for system in inputs.corpus.systems]
    pairs = zip(inputs.pairs.tolist(), study.segments_per_pair, study.units_per_pair, strict=True)
    return results.Table(
        coefficients=tuple(sampling.coefficients),
        assignments=study.n_assignments,
        pairs=tuple(results.PairUnits(names[a], names[b], items, units) for (a, b), items, units in pairs),
        rows=tuple(
            _row(inputs, row, result, over_items[index], over_raters[index])
            for index, (row, result) in enumerate(zip(inputs.rows, study.rows, strict=True))
        ),
        comparisons=_comparisons(metrics, study, over_items, bootstrap),
        observations=tuple(map(_observations, observed)),
    )


@dataclass(frozen=True)
class UnitBootstrap:
    """The bootstraps of a table; each has a stage of the progress."""

    inputs: StudyInputs
    resampler: Resampler
    progress: StagedProgress

    def __call__(
        self, metrics: list[StudyMetric], sampling: UnitSampling, stage: str, *, raters: bool = False
    ) -> list[RowBootstrap | None]:
        inputs, spec = self.inputs, self.inputs.specification
        if spec.bootstrap < 2:
            return [None] * len(metrics)
        if raters and not (inputs.human.raters_known and inputs.judged.n_judgements):
            reason = NOTHING_COUNTS if inputs.human.raters_known else UNKNOWN_RATERS
            none = BootstrapSummary(NOWHERE, np.nan, 0, reason, np.empty(0))
            return [RowBootstrap(metric.name, dict.fromkeys(sampling.coefficients, none), {}) for metric in metrics]
        drawn = UnitDraws(
            metrics,
            inputs.human.mean,
            inputs.pairs,
            # A random orientation is, on average, that of mirrored observations.
            replace(sampling, seed=spec.seed + 1, orientation="fixed" if sampling.orientation == "fixed" else "both"),
            inputs.judged.raters if raters else None,
            spec.bootstrap,
        )
        return list(self.resampler.units(drawn, self.progress.stage(stage)))


def _row(
    inputs: StudyInputs,
    row: Row,
    result: MetricResult,
    over_items: RowBootstrap | None,
    over_raters: RowBootstrap | None,
) -> results.StudyRow:
    left_out = inputs.used & ~row.counted.any(axis=0)
    dropped = [inputs.corpus.external_ids[index] for index in np.flatnonzero(left_out).tolist()]
    reason = unusable_reason(row.metric, row.subset) if row.metric.needs_references else "no score of some system"
    return results.StudyRow(
        metric=row.metric.name,
        label=row.label,
        negated=not row.metric.higher_is_better,
        subset=row.subset_name,
        subset_label=row.subset_label,
        signature=row.signature,
        run=None if row.run is None else row.run.number,
        coefficients={key: _row_estimate(result, key, over_items, over_raters) for key in result.coefficients},
        n_observations=result.n_observations,
        undefined_units=result.undefined_units,
        items=result.n_valid_segments,
        few_units=too_few_units(result.units_per_pair),
        dropped=results.Dropped(reason, len(dropped), tuple(dropped)),
        clamped=_clamped(inputs, result.clamped),
        systems=_systems(inputs, row, result),
        pairs=_pairs(inputs, row, result),
    )


def estimate(summary: sampled_units.CoefficientSummary) -> results.Estimate:
    return results.Estimate(
        value=finite_or_none(summary.mean),
        reason=summary.reason or "",
        paper=ends(summary.paper_interval),
        assignment_spread=finite_or_none(summary.assignment_spread),
        assignments_defined=summary.n_defined,
    )


def _row_estimate(
    result: MetricResult, key: str, over_items: RowBootstrap | None, over_raters: RowBootstrap | None
) -> results.RowEstimate:
    (items, items_reason), (raters, raters_reason) = _interval(over_items, key), _interval(over_raters, key)
    return results.RowEstimate(
        **vars(estimate(result.coefficients[key])),
        over_items=items,
        over_items_reason=items_reason,
        over_items_and_raters=raters,
        over_items_and_raters_reason=raters_reason,
    )


def _interval(bootstrap: RowBootstrap | None, key: str) -> tuple[Ends | None, str]:
    if bootstrap is None:
        return None, NO_BOOTSTRAP
    return ends(bootstrap.summaries[key].interval), bootstrap.summaries[key].reason or ""


def _clamped(inputs: StudyInputs, cells: sampled_units.ClampedCells | None) -> results.Clamped:
    if cells is None or not cells.mean:
        return results.Clamped(0.0, 0.0, ())
    shares = zip(inputs.corpus.systems, cells.per_system.tolist(), strict=True)
    systems = (results.SystemShare(system.name, share) for system, share in shares if share > 0)
    return results.Clamped(cells.mean, cells.share, tuple(systems))


def _systems(inputs: StudyInputs, row: Row, result: MetricResult) -> tuple[results.RowSystem, ...]:
    """Return each system's corpus score and mean rating, both over its items that count in the row."""
    counted = inputs.of_pair(row.counted)
    clamped = None if result.clamped is None else result.clamped.per_system.tolist()
    systems = []
    for index, system in enumerate(inputs.corpus.systems):
        rating, n_rated = mean_rating(inputs.human.mean[index, counted[index]])
        share = None if clamped is None else finite_or_none(clamped[index])
        score = finite_or_none(_score(row, index, counted[index]))
        systems.append(results.RowSystem(system.name, score, rating, n_rated, share))
    return tuple(systems)


def _score(row: Row, system: int, items: BoolArray) -> float:
    """Return a system's corpus score over some items; NaN if there are none."""
    if not items.any():
        return float("nan")
    return float(row.statistics.aggregate(row.statistics.packed[system, items].sum(axis=0)))


def _pairs(inputs: StudyInputs, row: Row, result: MetricResult) -> tuple[results.RowPair, ...]:
    """Return each pair's difference in corpus score and in mean rating, over the items on which the row compares it."""
    pairs = []
    for (a, b), items, n_units in zip(inputs.pairs.tolist(), row.counted, result.units_per_pair, strict=True):
        rating = inputs.human.mean[a, items] - inputs.human.mean[b, items]
        pairs.append(
            results.RowPair(
                items=int(items.sum()),
                units=n_units,
                score=finite_or_none(_score(row, a, items) - _score(row, b, items)),
                rating=finite_or_none(float(rating.mean())) if items.any() else None,
            )
        )
    return tuple(pairs)


def _observations(observations: sampled_units.Observations) -> results.Observations:
    human, metric = (
        tuple(finite_or_none(round(value, 6)) for value in side.tolist())
        for side in (observations.human, observations.metric)
    )
    return results.Observations(tuple(observations.pair.tolist()), human, metric)


def _comparisons(
    metrics: list[StudyMetric], study: StudyResult, over_items: list[RowBootstrap | None], bootstrap: UnitBootstrap
) -> tuple[results.Comparison, ...]:
    """Compare rows on the same items, units and resamples; correct p-values by Holm's method."""
    inputs, progress = bootstrap.inputs, bootstrap.progress
    rows: Sequence[MetricResult] = study.rows
    sampling = replace(inputs.sampling, coefficients=inputs.sampling.coefficients[:1])
    compared = _compared(inputs, study)
    shared, indices = on_shared_segments(metrics, compared)
    if narrowed := shared[len(metrics) :]:
        # The seeds are the table's: the same assignments and the same resampled items, whatever rows they are of.
        report = progress.stage("Table over shared items")
        again = sampled_unit_correlation(narrowed, inputs.human.mean, inputs.pairs, sampling, progress=report)
        rows = [*rows, *again.rows]
        over_items = over_items + bootstrap(narrowed, sampling, "Intervals over shared items")
    comparisons = [
        _comparison(inputs, each, sampling.coefficients[0], (rows[a], rows[b]), (over_items[a], over_items[b]))
        for each, (a, b) in zip(compared, indices, strict=True)
    ]
    adjusted = holm_correction([np.nan if entry.p is None else entry.p for entry in comparisons]).adjusted
    return tuple(
        replace(entry, p_holm=finite_or_none(float(p))) for entry, p in zip(comparisons, adjusted, strict=True)
    )


def _comparison(
    inputs: StudyInputs,
    compared: tuple[int, int],
    key: str,
    rows: tuple[MetricResult, MetricResult],
    bootstraps: tuple[RowBootstrap | None, RowBootstrap | None],
) -> results.Comparison:
    """Compare two rows by a coefficient: both values, the difference, its interval and p-value.

    With too few units the difference is not tested.
    """
    a, b = compared
    first, second = (row.coefficients[key].mean for row in rows)
    comparison = results.Comparison(
        first=inputs.rows[a].label,
        first_references=inputs.rows[a].subset_label,
        second=inputs.rows[b].label,
        second_references=inputs.rows[b].subset_label,
        items=rows[0].n_valid_segments,
        of=int(inputs.used.sum()),
        first_value={key: finite_or_none(first)},
        second_value={key: finite_or_none(second)},
        difference=None,
        interval=None,
        p=None,
        p_holm=None,
        reason="no item can be used by both",
    )
    if not comparison.items:
        return comparison
    comparison = replace(comparison, difference=finite_or_none(first - second), reason=NO_BOOTSTRAP)
    if bootstraps[0] is None or bootstraps[1] is None:
        return comparison
    if reason := too_few_units(rows[0].units_per_pair):
        return replace(comparison, reason=reason)
    tested = bootstrap_difference(first - second, bootstraps[0].replicates[key], bootstraps[1].replicates[key])
    p = finite_or_none(tested.p_value)
    return replace(comparison, interval=ends(tested.interval), p=p, reason=tested.reason or "")


def _compared(inputs: StudyInputs, study: StudyResult) -> list[tuple[int, int]]:
    """Return the rows to compare: all pairs, or those of one choice of references and the best rows of all metrics.

    A row without references is compared under each choice of them; two such rows once.
    """
    every = list(combinations(range(len(inputs.rows)), 2))
    if inputs.specification.compare == "all":
        return every
    alone = [index for index, row in enumerate(inputs.rows) if not row.metric.needs_references]
    compared = []
    for subset in inputs.specification.built_subsets():
        reading = [
            index for index, row in enumerate(inputs.rows) if row.subset == subset and row.metric.needs_references
        ]
        compared += [(a, b) for a, b in combinations(sorted(reading + alone), 2) if a in reading or b in reading]
    compared += combinations(alone, 2)
    return list(dict.fromkeys((*compared, *combinations(_best_rows(inputs, study), 2))))


def _best_rows(inputs: StudyInputs, study: StudyResult) -> list[int]:
    """Return each metric's row with the highest leading coefficient of those with enough units, in their order."""
    lead = inputs.sampling.coefficients[0]
    best: dict[Metric, tuple[float, int]] = {}
    for index, (row, result) in enumerate(zip(inputs.rows, study.rows, strict=True)):
        value = result.coefficients[lead].mean
        if not np.isnan(value) and not too_few_units(result.units_per_pair):
            best[row.metric] = max(best.get(row.metric, (value, index)), (value, index), key=itemgetter(0))
    return sorted(index for _, index in best.values())
