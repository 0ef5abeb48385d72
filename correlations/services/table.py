"""The table of a study: coefficients with both intervals, what was left out, what was clamped, and comparisons."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.numbers import finite_or_none
from annotation.selectors.aggregates import REASON as UNKNOWN_RATERS
from correlations.services.inputs import NO_REFERENCES, Row, StudyInputs
from correlations.services.progress import StagedProgress
from correlations.stats.intervals import NOWHERE, Interval
from correlations.stats.resampling import BootstrapSummary, RowBootstrap, bootstrap_difference, study_bootstrap
from correlations.stats.sampled_units import (
    ClampedCells,
    CoefficientSummary,
    MetricResult,
    Observations,
    StudyResult,
    sampled_unit_correlation,
    unit_observations,
)
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.significance import holm_correction
from correlations.stats.units import StudyMetric
from metrics.services.scoring import unusable_reason

FloatArray = npt.NDArray[np.float64]


BOTH = ("spearman", "kendall")
RHO = ("spearman",)
UNTESTED = {"interval": None, "p": None}


def study_table(inputs: StudyInputs, progress: StagedProgress) -> dict[str, Any]:
    """Rows, pairs, and the observations of the first assignment, ready for JSON."""
    spec = inputs.specification
    metrics = [row.study_metric() for row in inputs.rows]
    study = _correlated(inputs, metrics, BOTH, progress, "Table")
    over_items = _bootstrap(inputs, metrics, BOTH, progress, "Intervals over items")
    over_raters = _bootstrap(inputs, metrics, BOTH, progress, "Intervals over raters", raters=True)
    seen = unit_observations(
        metrics,
        inputs.human.mean,
        inputs.pairs,
        seed=spec.seed,
        unit_size=spec.unit_size,
        remainder=spec.remainder,  # type: ignore[arg-type] # checked by the specification
    )
    names = [system.name for system in inputs.corpus.systems]
    return {
        "assignments": study.n_assignments,
        "pairs": [
            {"a": names[a], "b": names[b], "items": items, "units": units}
            for (a, b), items, units in zip(
                inputs.pairs.tolist(), study.segments_per_pair, study.units_per_pair, strict=True
            )
        ],
        "rows": [
            _row(inputs, row, result, study.units_per_pair, over_items[index], over_raters[index])
            for index, (row, result) in enumerate(zip(inputs.rows, study.rows, strict=True))
        ],
        "comparisons": _comparisons(inputs, metrics, list(study.rows), over_items, progress),
        "observations": _observations(seen),
    }


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
        return [_no_interval(metric.name) for metric in metrics]
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


def _no_interval(name: str) -> RowBootstrap:
    none = BootstrapSummary(NOWHERE, np.nan, 0, UNKNOWN_RATERS, np.empty(0))
    return RowBootstrap(name, dict.fromkeys(BOTH, none), {})


def _row(
    inputs: StudyInputs,
    row: Row,
    result: MetricResult,
    units_per_pair: Sequence[int],
    *intervals: RowBootstrap | None,
) -> dict[str, Any]:
    usable = np.asarray(row.statistics.valid.all(axis=0))
    dropped = [inputs.corpus.external_ids[place] for place in np.flatnonzero(~usable).tolist()]
    return {
        "metric": row.metric.name,
        "label": row.label,
        "negated": not row.metric.higher_is_better,
        "subset": row.subset_name,
        "subset_label": row.subset_label,
        "signature": row.run.signature,
        "run": row.run.pk,
        "rho": coefficient(result.coefficients["spearman"], *(_summary(each, "spearman") for each in intervals)),
        "tau": coefficient(result.coefficients["kendall"], *(_summary(each, "kendall") for each in intervals)),
        "n_observations": result.n_observations,
        "undefined_units": result.undefined_units,
        "items": int(usable.sum()),
        # Units are cut before a row leaves items out, so its units hold fewer than M.
        "items_per_unit": float(usable.sum() / np.mean(units_per_pair)),
        "dropped": {"reason": _why_dropped(row), "count": len(dropped), "items": dropped},
        "clamped": _clamped(inputs, result.clamped),
        "systems": _systems(inputs, row, result, usable),
    }


def _summary(bootstrap: RowBootstrap | None, key: str) -> BootstrapSummary | None:
    return None if bootstrap is None else bootstrap.summaries[key]


def _why_dropped(row: Row) -> str:
    return unusable_reason(row.metric, row.subset) if row.metric.needs_references else "no score of some system"


def coefficient(
    found: CoefficientSummary | None,
    over_items: BootstrapSummary | None = None,
    over_raters: BootstrapSummary | None = None,
) -> dict[str, Any]:
    """One coefficient for JSON: the value or why there is none, and each interval under its own name."""
    if found is None:
        return {"value": None, "reason": "not asked for"}
    plain = {
        "value": finite_or_none(found.mean),
        "reason": found.reason or "",
        "paper": _ends(found.paper_interval),
        "assignment_spread": finite_or_none(found.assignment_spread),
        "assignments_defined": found.n_defined,
    }
    for name, bootstrap in (("over_items", over_items), ("over_items_and_raters", over_raters)):
        if bootstrap is not None:
            plain[name] = _ends(bootstrap.interval)
            plain[f"{name}_reason"] = bootstrap.reason or ""
    return plain


def _ends(interval: Interval) -> list[float] | None:
    return None if np.isnan(interval).any() else [float(interval.low), float(interval.high)]


def _clamped(inputs: StudyInputs, found: ClampedCells | None) -> dict[str, Any]:
    if found is None or not found.mean:
        return {"cells": 0.0, "share": 0.0, "systems": []}
    shares = zip(inputs.corpus.systems, found.per_system.tolist(), strict=True)
    return {
        "cells": found.mean,
        "share": found.share,
        "systems": [{"system": system.name, "share": share} for system, share in shares if share > 0],
    }


def _systems(
    inputs: StudyInputs, row: Row, result: MetricResult, usable: npt.NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Corpus scores of the row, over the items it uses, beside the mean ratings over the same items."""
    packed, aggregate = row.statistics.packed, row.statistics.aggregate
    clamped = None if result.clamped is None else result.clamped.per_system.tolist()
    found = []
    for place, system in enumerate(inputs.corpus.systems):
        ratings = inputs.human.mean[place, usable]
        rated = ratings[~np.isnan(ratings)]
        score = float(aggregate(packed[place, usable].sum(axis=0))) if usable.any() else float("nan")
        found.append(
            {
                "system": system.name,
                "score": finite_or_none(score),
                "rating": float(rated.mean()) if rated.size else None,
                "rated_items": int(rated.size),
                "clamped_share": None if clamped is None else finite_or_none(clamped[place]),
            }
        )
    return found


def _observations(seen: Observations) -> dict[str, Any]:
    def rounded(values: FloatArray) -> list[list[float | None]]:
        return [[finite_or_none(round(value, 6)) for value in row] for row in values.tolist()]

    return {"pair": seen.pair.tolist(), "human": rounded(seen.human), "metric": rounded(seen.metric)}


def _comparisons(
    inputs: StudyInputs,
    metrics: list[StudyMetric],
    results: list[MetricResult],
    over_items: list[RowBootstrap | None],
    progress: StagedProgress,
) -> list[dict[str, Any]]:
    """Metrics against each other under one subset, on the same items, units and resamples; Holm's over the table."""
    compared = list(_compared(inputs))
    rows, places = on_shared_segments(metrics, [(a, b) for _, a, b in compared])
    narrowed = rows[len(metrics) :]
    if narrowed:
        # The seeds are the table's: the same assignments and the same resampled items, whatever rows they are of.
        results = [*results, *_correlated(inputs, narrowed, RHO, progress, "Table over shared items").rows]
        over_items = over_items + _bootstrap(inputs, narrowed, RHO, progress, "Intervals over shared items")
    found = []
    for (label, a, b), (first, second) in zip(compared, places, strict=True):
        names = {"subset_label": label, "first": inputs.rows[a].label, "second": inputs.rows[b].label}
        tested = _comparison((results[first], over_items[first]), (results[second], over_items[second]))
        found.append(names | {"items": results[first].n_valid_segments, "of": inputs.human.mean.shape[1]} | tested)
    adjusted = holm_correction([np.nan if entry["p"] is None else entry["p"] for entry in found]).adjusted
    return [entry | {"p_holm": finite_or_none(float(p))} for entry, p in zip(found, adjusted, strict=True)]


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


Correlated = tuple[MetricResult, RowBootstrap | None]


def _comparison(one: Correlated, other: Correlated) -> dict[str, Any]:
    (first, first_over_items), (second, second_over_items) = one, other
    rhos = [found.coefficients["spearman"].mean for found in (first, second)]
    plain = {"first_rho": finite_or_none(rhos[0]), "second_rho": finite_or_none(rhos[1])}
    if not first.n_valid_segments:
        return plain | UNTESTED | {"difference": None, "reason": "no item can be used by both"}
    difference = rhos[0] - rhos[1]
    plain["difference"] = finite_or_none(difference)
    if first_over_items is None or second_over_items is None:
        return plain | UNTESTED | {"reason": "no bootstrap was asked for"}
    tested = bootstrap_difference(
        difference, first_over_items.replicates["spearman"], second_over_items.replicates["spearman"]
    )
    return plain | {
        "interval": _ends(tested.interval),
        "p": finite_or_none(tested.p_value),
        "reason": tested.reason or "",
    }
