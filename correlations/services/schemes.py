"""A study under every weighting scheme, with all weights 1, and without negative ones."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.models import Release
from annotation.references.weighing.selectors.sensitivity import comparisons
from correlations.results.common import ends
from correlations.results.sensitivity import SchemeLine, Schemes, SchemeValue
from correlations.results.study import Table
from correlations.selectors.inputs import FloatArray
from correlations.services.inputs import StudyInputs
from correlations.services.progress import part_of
from correlations.services.reweighing import NO_RELEASE, NOT_READ, reads_weights, reference_index, rescored
from correlations.stats.resampling import RowBootstrap, bootstrap_difference, study_bootstrap
from correlations.stats.sampled_units import MetricResult, sampled_unit_correlation
from correlations.stats.shared_segments import on_shared_segments

OWN = "release"
OWN_LABEL = "This release"


def study_schemes(
    inputs: StudyInputs, table: Table, release: Release | None, report: Callable[[int, int], None]
) -> Schemes:
    """Compute each weighted metric's best row under every scheme, beside the release's own weights."""
    if release is None or inputs.referenced is None:
        return Schemes(NO_RELEASE, (), ())
    rows = weighted_rows(inputs, table)
    if not rows:
        return Schemes(NOT_READ, (), ())
    at = reference_index(release, inputs.referenced.reference_ids)
    lines: list[tuple[SchemeLine, FloatArray]] = [(SchemeLine(OWN, OWN_LABEL, True, "", ()), inputs.referenced.weights)]
    for other in comparisons(release, here=True):
        line = SchemeLine(other.name, other.label, other.is_own, other.reason, ())
        lines.append((line, other.weights[at]))
    if any(line.is_own for line, _ in lines[1:]):
        del lines[0]
    values = iter(_values(inputs, rows, [weights for line, weights in lines if not line.reason], own_of(lines), report))
    filled = (line if line.reason else replace(line, rows=next(values)) for line, _ in lines)
    return Schemes("", rows, tuple(filled))


def own_of(lines: list[tuple[SchemeLine, FloatArray]]) -> int:
    """Return the place of the release's own weights among the lines that have weights."""
    return [line.is_own for line, _ in lines if not line.reason].index(True)


def weighted_rows(inputs: StudyInputs, table: Table) -> tuple[int, ...]:
    """Return the best row of each metric that reads weights; of each whose references they choose, if none does."""
    lead = table.coefficients[0]
    reading = [index for index, row in enumerate(inputs.rows) if reads_weights(row)]
    chosen = [index for index in reading if inputs.rows[index].metric.needs_weights] or reading
    value = {index: table.rows[index].coefficients[lead].value for index in chosen}
    ranked = sorted((index for index in chosen if value[index] is not None), key=lambda index: value[index] or 0.0)
    return tuple(sorted({inputs.rows[index].metric: index for index in ranked}.values()))


def _values(
    inputs: StudyInputs, rows: tuple[int, ...], weights: list[FloatArray], own: int, report: Callable[[int, int], None]
) -> list[tuple[SchemeValue, ...]]:
    """Return the rows under each set of weights."""
    by_row = [rescored(inputs, inputs.rows[index], np.stack(weights)) for index in rows]
    metrics = [
        replace(under[place], name=f"{place} {under[place].name}") for place in range(len(weights)) for under in by_row
    ]
    compared = [(place, own * len(rows) + place % len(rows)) for place in range(len(metrics))]
    every, indices = on_shared_segments(metrics, compared)
    sampling = replace(inputs.sampling, coefficients=inputs.sampling.coefficients[:1])
    study = sampled_unit_correlation(every, inputs.human.mean, inputs.pairs, sampling, progress=part_of(report, 0, 2))
    bootstrap = study_bootstrap(
        every,
        inputs.human.mean,
        inputs.pairs,
        replace(
            sampling,
            seed=inputs.specification.seed + 1,
            orientation="fixed" if sampling.orientation == "fixed" else "both",
        ),
        n_replicates=inputs.specification.bootstrap,
        progress=part_of(report, 1, 2),
    )
    lead = sampling.coefficients[0]
    values = [_value(lead, place, pair, study.rows, bootstrap) for place, pair in enumerate(indices)]
    return [tuple(values[start : start + len(rows)]) for start in range(0, len(values), len(rows))]


def _value(
    lead: str,
    place: int,
    pair: tuple[int, int],
    rows: tuple[MetricResult, ...],
    bootstrap: tuple[RowBootstrap, ...],
) -> SchemeValue:
    row, (this, own) = rows[place], pair
    summary, over_items = row.coefficients[lead], bootstrap[place].summaries[lead]
    value = SchemeValue(
        value=finite_or_none(summary.mean),
        interval=ends(over_items.interval),
        difference=0.0 if this == own else None,
        difference_interval=None,
        items=row.n_valid_segments,
        reason=summary.reason or "",
    )
    if this == own:
        return value
    difference = rows[this].coefficients[lead].mean - rows[own].coefficients[lead].mean
    tested = bootstrap_difference(difference, bootstrap[this].replicates[lead], bootstrap[own].replicates[lead])
    return replace(value, difference=finite_or_none(difference), difference_interval=ends(tested.interval))
