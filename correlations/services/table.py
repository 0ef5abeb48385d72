"""The table of a study: coefficients with both intervals, what was left out, what was clamped, and comparisons."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results.common import Ends
from correlations.results.study import (
    NO_REFERENCES,
    Clamped,
    Comparison,
    Dropped,
    Estimate,
    Observations,
    PairUnits,
    RowEstimate,
    RowSystem,
    StudyRow,
    SystemShare,
    Table,
)
from correlations.services.inputs import Row, StudyInputs
from correlations.services.progress import StagedProgress
from correlations.stats import sampled_units
from correlations.stats.intervals import NOWHERE, Interval
from correlations.stats.resampling import BootstrapSummary, RowBootstrap, bootstrap_difference, study_bootstrap
from correlations.stats.sampled_units import (
    ClampedCells,
    CoefficientSummary,
    MetricResult,
    StudyResult,
    sampled_unit_correlation,
    unit_observations,
)
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.significance import holm_correction
from correlations.stats.units import StudyMetric
from metrics.services.scoring import unusable_reason

FloatArray = npt.NDArray[np.float64]
NO_BOOTSTRAP = "no bootstrap was requested"


def study_table(inputs: StudyInputs, progress: StagedProgress) -> Table:
    """Rows, pairs, comparisons, and the observations of the first assignment."""
    spec = inputs.specification
    metrics = [row.study_metric() for row in inputs.rows]
    study = _correlated(inputs, metrics, spec.coefficients, progress, "Table")
    over_items = _bootstrap(inputs, metrics, spec.coefficients, progress, "Intervals over items")
    over_raters = _bootstrap(inputs, metrics, spec.coefficients, progress, "Intervals over raters", raters=True)
    seen = unit_observations(
        metrics,
        inputs.human.mean,
        inputs.pairs,
        seed=spec.seed,
        unit_size=spec.unit_size,
        remainder=spec.remainder,  # type: ignore[arg-type] # checked by the specification
    )
    names = [system.name for system in inputs.corpus.systems]
    return Table(
        coefficients=spec.coefficients,
        assignments=study.n_assignments,
        pairs=tuple(
            PairUnits(names[a], names[b], items, units)
            for (a, b), items, units in zip(
                inputs.pairs.tolist(), study.segments_per_pair, study.units_per_pair, strict=True
            )
        ),
        rows=tuple(
            _row(inputs, row, result, study.units_per_pair, over_items[index], over_raters[index])
            for index, (row, result) in enumerate(zip(inputs.rows, study.rows, strict=True))
        ),
        comparisons=_comparisons(inputs, metrics, list(study.rows), over_items, progress),
        observations=_observations(seen),
    )


def _correlated(
    inputs: StudyInputs, metrics: list[StudyMetric], coefficients: Sequence[str], progress: StagedProgress, stage: str
) -> StudyResult:
    spec = inputs.specification
    return sampled_unit_correlation(
        metrics,
        inputs.human.mean,
        inputs.pairs,
        seed=spec.seed,
        unit_size=spec.unit_size,
        n_assignments=spec.assignments,
        remainder=spec.remainder,  # type: ignore[arg-type] # checked by the specification
        orientation=spec.orientation,  # type: ignore[arg-type]
        coefficients=coefficients,
        progress=progress.stage(stage),
    )


def _bootstrap(
    inputs: StudyInputs,
    metrics: list[StudyMetric],
    coefficients: Sequence[str],
    progress: StagedProgress,
    stage: str,
    *,
    raters: bool = False,
) -> list[RowBootstrap | None]:
    spec = inputs.specification
    if spec.bootstrap < 2:
        return [None] * len(metrics)
    if raters and not inputs.human.raters_known:
        return [_no_interval(metric.name, coefficients) for metric in metrics]
    return list(
        study_bootstrap(
            metrics,
            inputs.human.mean,
            inputs.pairs,
            seed=spec.seed + 1,
            raters=inputs.human.raters if raters else None,
            unit_size=spec.unit_size,
            remainder=spec.remainder,  # type: ignore[arg-type] # checked by the specification
            # A random orientation is, on average, that of mirrored observations.
            orientation="fixed" if spec.orientation == "fixed" else "both",
            n_replicates=spec.bootstrap,
            coefficients=coefficients,
            progress=progress.stage(stage),
        )
    )


def _no_interval(name: str, coefficients: Sequence[str]) -> RowBootstrap:
    none = BootstrapSummary(NOWHERE, np.nan, 0, UNKNOWN_RATERS, np.empty(0))
    return RowBootstrap(name, dict.fromkeys(coefficients, none), {})


def _row(
    inputs: StudyInputs,
    row: Row,
    result: MetricResult,
    units_per_pair: Sequence[int],
    over_items: RowBootstrap | None,
    over_raters: RowBootstrap | None,
) -> StudyRow:
    usable = np.asarray(row.statistics.valid.all(axis=0))
    dropped = [inputs.corpus.external_ids[place] for place in np.flatnonzero(~usable).tolist()]
    return StudyRow(
        metric=row.metric.name,
        label=row.label,
        negated=not row.metric.higher_is_better,
        subset=row.subset_name,
        subset_label=row.subset_label,
        signature=row.run.signature,
        run=row.run.pk,
        coefficients={
            key: _row_estimate(summary, _summary(over_items, key), _summary(over_raters, key))
            for key, summary in result.coefficients.items()
        },
        n_observations=result.n_observations,
        undefined_units=result.undefined_units,
        items=int(usable.sum()),
        # Units are cut before a row leaves items out, so its units hold fewer than M.
        items_per_unit=float(usable.sum() / np.mean(units_per_pair)) if any(units_per_pair) else None,
        dropped=Dropped(_why_dropped(row), len(dropped), tuple(dropped)),
        clamped=_clamped(inputs, result.clamped),
        systems=_systems(inputs, row, result, usable),
    )


def _summary(bootstrap: RowBootstrap | None, key: str) -> BootstrapSummary | None:
    return None if bootstrap is None else bootstrap.summaries[key]


def _why_dropped(row: Row) -> str:
    return unusable_reason(row.metric, row.subset) if row.metric.needs_references else "no score of some system"


def estimate(summary: CoefficientSummary) -> Estimate:
    return Estimate(
        value=finite_or_none(summary.mean),
        reason=summary.reason or "",
        paper=_ends(summary.paper_interval),
        assignment_spread=finite_or_none(summary.assignment_spread),
        assignments_defined=summary.n_defined,
    )


def _row_estimate(
    summary: CoefficientSummary, over_items: BootstrapSummary | None, over_raters: BootstrapSummary | None
) -> RowEstimate:
    (items, items_reason), (raters, raters_reason) = _interval(over_items), _interval(over_raters)
    return RowEstimate(
        **vars(estimate(summary)),
        over_items=items,
        over_items_reason=items_reason,
        over_items_and_raters=raters,
        over_items_and_raters_reason=raters_reason,
    )


def _interval(bootstrap: BootstrapSummary | None) -> tuple[Ends | None, str]:
    return (None, NO_BOOTSTRAP) if bootstrap is None else (_ends(bootstrap.interval), bootstrap.reason or "")


def _ends(interval: Interval) -> Ends | None:
    return None if np.isnan(interval).any() else (float(interval.low), float(interval.high))


def _clamped(inputs: StudyInputs, cells: ClampedCells | None) -> Clamped:
    if cells is None or not cells.mean:
        return Clamped(0.0, 0.0, ())
    shares = zip(inputs.corpus.systems, cells.per_system.tolist(), strict=True)
    return Clamped(
        cells.mean, cells.share, tuple(SystemShare(system.name, share) for system, share in shares if share > 0)
    )


def _systems(
    inputs: StudyInputs, row: Row, result: MetricResult, usable: npt.NDArray[np.bool_]
) -> tuple[RowSystem, ...]:
    """Corpus scores of the row, over the items it uses, beside the mean ratings over the same items."""
    packed, aggregate = row.statistics.packed, row.statistics.aggregate
    clamped = None if result.clamped is None else result.clamped.per_system.tolist()
    systems = []
    for place, system in enumerate(inputs.corpus.systems):
        ratings = inputs.human.mean[place, usable]
        rated = ratings[~np.isnan(ratings)]
        score = float(aggregate(packed[place, usable].sum(axis=0))) if usable.any() else float("nan")
        systems.append(
            RowSystem(
                system=system.name,
                score=finite_or_none(score),
                rating=float(rated.mean()) if rated.size else None,
                rated_items=int(rated.size),
                clamped_share=None if clamped is None else finite_or_none(clamped[place]),
            )
        )
    return tuple(systems)


def _observations(seen: sampled_units.Observations) -> Observations:
    def rounded(values: FloatArray) -> tuple[tuple[float | None, ...], ...]:
        return tuple(tuple(finite_or_none(round(value, 6)) for value in row) for row in values.tolist())

    return Observations(tuple(seen.pair.tolist()), rounded(seen.human), rounded(seen.metric))


def _comparisons(
    inputs: StudyInputs,
    metrics: list[StudyMetric],
    results: list[MetricResult],
    over_items: list[RowBootstrap | None],
    progress: StagedProgress,
) -> tuple[Comparison, ...]:
    """Metrics against each other under one subset, on the same items, units and resamples; Holm's over the table."""
    lead = inputs.specification.coefficients[:1]
    compared = list(_compared(inputs))
    rows, places = on_shared_segments(metrics, [(a, b) for _, a, b in compared])
    narrowed = rows[len(metrics) :]
    if narrowed:
        # The seeds are the table's: the same assignments and the same resampled items, whatever rows they are of.
        results = [*results, *_correlated(inputs, narrowed, lead, progress, "Table over shared items").rows]
        over_items = over_items + _bootstrap(inputs, narrowed, lead, progress, "Intervals over shared items")
    comparisons = []
    for (label, a, b), (first, second) in zip(compared, places, strict=True):
        bare = Comparison(
            subset_label=label,
            first=inputs.rows[a].label,
            second=inputs.rows[b].label,
            items=results[first].n_valid_segments,
            of=inputs.human.mean.shape[1],
            first_value={lead[0]: finite_or_none(results[first].coefficients[lead[0]].mean)},
            second_value={lead[0]: finite_or_none(results[second].coefficients[lead[0]].mean)},
            difference=None,
            interval=None,
            p=None,
            p_holm=None,
            reason="no item can be used by both",
        )
        if results[first].n_valid_segments:
            bare = _tested(bare, lead[0], (results[first], results[second]), (over_items[first], over_items[second]))
        comparisons.append(bare)
    adjusted = holm_correction([np.nan if entry.p is None else entry.p for entry in comparisons]).adjusted
    return tuple(
        replace(entry, p_holm=finite_or_none(float(p))) for entry, p in zip(comparisons, adjusted, strict=True)
    )


def _tested(
    comparison: Comparison,
    key: str,
    results: tuple[MetricResult, MetricResult],
    bootstraps: tuple[RowBootstrap | None, RowBootstrap | None],
) -> Comparison:
    """Return the comparison with the difference of the coefficient, its interval and its p-value."""
    first, second = (result.coefficients[key].mean for result in results)
    difference = first - second
    if bootstraps[0] is None or bootstraps[1] is None:
        return replace(comparison, difference=finite_or_none(difference), reason=NO_BOOTSTRAP)
    tested = bootstrap_difference(difference, bootstraps[0].replicates[key], bootstraps[1].replicates[key])
    return replace(
        comparison,
        difference=finite_or_none(difference),
        interval=_ends(tested.interval),
        p=finite_or_none(tested.p_value),
        reason=tested.reason or "",
    )


def _compared(inputs: StudyInputs) -> Iterator[tuple[str, int, int]]:
    """Rows side by side under each subset; those that read no references stand beside all, among themselves once."""
    alone = [place for place, row in enumerate(inputs.rows) if not row.metric.needs_references]
    for subset in inputs.specification.built_subsets():
        reading = [
            place for place, row in enumerate(inputs.rows) if row.subset == subset and row.metric.needs_references
        ]
        for a, b in combinations(sorted(reading + alone), 2):
            if a in reading or b in reading:
                yield subset.label, a, b
    for a, b in combinations(alone, 2):
        yield NO_REFERENCES, a, b
