"""How far a study's conclusion hangs on its items and raters, and how many ratings and references it needed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from annotation.models import Release
from correlations.results import sensitivity as results
from correlations.results.common import ends
from correlations.results.study import Table
from correlations.selectors.inputs import FloatArray
from correlations.services.curves import study_curves
from correlations.services.inputs import Row, StudyInputs
from correlations.services.progress import StagedProgress, part_of
from correlations.services.reweighing import ReferenceSide, reads_weights, reference_side, rescored
from correlations.services.schemes import study_schemes
from correlations.services.table import NO_BOOTSTRAP, NOTHING_COUNTS
from correlations.stats.resampling import BootstrapSummary, RowBootstrap, between_replicates, replicates_interval
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.sources import Sources, share_ahead, source_bootstrap
from correlations.stats.subsampling import Measured, measured
from correlations.stats.units import StudyMetric, UnitSampling

MOST_SHOWN = 6
ONE_RATER = "one rater rated all outputs: there is no other to draw"
NOTHING_DEFINED = "no row has a coefficient"
STAGES = {"Other items and raters": 30, "Fewer ratings and references": 60, "Other weighting schemes": 10}


def study_sensitivity(
    inputs: StudyInputs, table: Table, release: Release | None, progress: StagedProgress
) -> results.Sensitivity:
    """Draw items and raters anew, draw fewer ratings and references, and weigh by other schemes."""
    started = time.monotonic()
    shown = shown_rows(inputs, table)
    reason = NOTHING_DEFINED if not shown else NO_BOOTSTRAP if inputs.specification.bootstrap < 2 else ""
    if reason:
        return results.Sensitivity.nothing(reason)
    shared = Shared.of(inputs, shown, reference_side(inputs, release, [inputs.rows[index] for index in shown]))
    rows, pairs = _sources(shared, progress.stage("Other items and raters"))
    return results.Sensitivity(
        reason="",
        shown=shown,
        replicates=shared.n_replicates,
        draws=shared.n_draws,
        missing=shared.missing,
        rows=rows,
        pairs=pairs,
        curves=study_curves(shared, progress.stage("Fewer ratings and references")),
        schemes=study_schemes(inputs, table, release, progress.stage("Other weighting schemes")),
        seconds=round(time.monotonic() - started, 2),
    )


def shown_rows(inputs: StudyInputs, table: Table) -> tuple[int, ...]:
    """Return the best row of each metric, or every row of a lone metric; the best first, by the leading coefficient."""
    lead = table.coefficients[0]
    values = {index: row.coefficients[lead].value for index, row in enumerate(table.rows)}
    defined = [index for index, value in values.items() if value is not None]
    enough = [index for index in defined if not table.rows[index].few_units] or defined
    ranked = sorted(enough, key=lambda index: -(values[index] or 0.0))
    best = list({inputs.rows[index].metric: index for index in reversed(ranked)}.values())
    return tuple(sorted(best if len(best) > 1 else ranked, key=ranked.index)[:MOST_SHOWN])


@dataclass(frozen=True)
class Shared:
    """What sources and curves share: the shown rows, how they compare, and who weighed their references."""

    inputs: StudyInputs
    shown: tuple[int, ...]
    rows: list[Row]
    metrics: list[StudyMetric]
    own: Measured  # over all assignments of the study; of compared rows, by position, the first is ahead
    references: ReferenceSide | str  # or why they cannot be weighed again

    @classmethod
    def of(cls, inputs: StudyInputs, shown: tuple[int, ...], references: ReferenceSide | str) -> "Shared":
        rows = [inputs.rows[index] for index in shown]
        metrics = [inputs.study_metric(row) for row in rows]
        sampling = lead_sampling(inputs)
        every = [(0, other) for other in range(1, len(rows))]
        own = measured(metrics, inputs.human.mean, inputs.pairs, sampling, every)
        signs = own.differences.tolist()
        compared = [(a, b) if sign >= 0 else (b, a) for (a, b), sign in zip(every, signs, strict=True)]
        defined = [index for index, sign in enumerate(signs) if not np.isnan(sign)]
        compared = [compared[index] for index in defined]
        own = replace(own, compared=compared, differences=np.abs(own.differences[defined]))
        return cls(inputs, shown, rows, metrics, own, references)

    @property
    def n_replicates(self) -> int:
        return min(results.MOST_REPLICATES, self.inputs.specification.bootstrap)

    @property
    def n_draws(self) -> int:
        return min(results.MOST_DRAWS, self.inputs.specification.bootstrap)

    @cached_property
    def missing(self) -> dict[str, str]:
        """Return which sources cannot be drawn, and why."""
        missing = {}
        if not self.inputs.human.raters_known:
            missing[results.OUTPUTS] = UNKNOWN_RATERS
        elif self.inputs.judged.n_raters < 2:
            missing[results.OUTPUTS] = ONE_RATER if self.inputs.judged.n_judgements else NOTHING_COUNTS
        if isinstance(self.references, str):
            missing[results.REFERENCES] = self.references
        return missing

    @property
    def reweighed(self) -> list[int]:
        """Return the rows, by position, whose scores follow from weights that can be made again."""
        if isinstance(self.references, str):
            return []
        return [index for index, row in enumerate(self.rows) if reads_weights(row)]

    def under(self, weights: FloatArray) -> list[StudyMetric]:
        """Return the rows under other weights (R,) of the references."""
        metrics = list(self.metrics)
        for index in self.reweighed:
            (metrics[index],) = rescored(self.inputs, self.rows[index], weights[None])
        return metrics


def lead_sampling(inputs: StudyInputs) -> UnitSampling:
    return replace(inputs.sampling, coefficients=inputs.sampling.coefficients[:1])


def bootstrap_sampling(inputs: StudyInputs) -> UnitSampling:
    """Return the sampling of the table's own bootstrap, for the leading coefficient."""
    sampling = replace(lead_sampling(inputs), seed=inputs.specification.seed + 1)
    return replace(sampling, orientation="fixed" if sampling.orientation == "fixed" else "both")


# --- Sources ---------------------------------------------------------------------------------------------------------


def _sources(
    shared: Shared, report: Callable[[int, int], None]
) -> tuple[tuple[results.RowSources, ...], tuple[results.PairSources, ...]]:
    metrics, indices = on_shared_segments(shared.metrics, shared.own.compared)
    drawn = drawn_together(shared.missing)
    distinct = list(dict.fromkeys(drawn.values()))
    lead, done = shared.inputs.sampling.coefficients[0], {}
    for place, parts in enumerate(distinct):
        done[parts] = source_bootstrap(
            metrics,
            shared.inputs.human.mean,
            shared.inputs.pairs,
            bootstrap_sampling(shared.inputs),
            _sources_of(shared, metrics, parts),
            n_replicates=shared.n_replicates,
            progress=part_of(report, place, len(distinct)),
        )
    rows = tuple(
        results.RowSources(
            shared.shown[index],
            finite_or_none(shared.own.values[index]),
            {name: _draws(done[parts][index].summaries[lead]) for name, parts in drawn.items()},
        )
        for index in range(len(shared.rows))
    )
    pairs = tuple(
        _pair(shared, place, {name: (done[parts][a], done[parts][b]) for name, parts in drawn.items()})
        for place, (a, b) in enumerate(indices)
    )
    return rows, pairs


def drawn_together(missing: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return what is drawn under each name; all is what can be drawn."""
    together = {}
    for name, parts in results.COMBINED.items():
        possible = tuple(part for part in parts if part not in missing)
        if possible == parts or (possible and name == results.ALL):
            together[name] = possible
    return together


def _sources_of(shared: Shared, metrics: Sequence[StudyMetric], parts: tuple[str, ...]) -> Sources:
    raters = shared.inputs.judged.raters if results.OUTPUTS in parts else None
    side = shared.references
    if results.REFERENCES not in parts or isinstance(side, str):
        return Sources(results.ITEMS in parts, raters)
    # A row that was narrowed to shared items is drawn with its row.
    position = {row.name: index for index, row in enumerate(shared.rows)}
    row_of = [position.get(metric.name, position.get(metric.name.rpartition(" [")[0], -1)) for metric in metrics]
    changed = [(index, row) for index, row in enumerate(row_of) if row in shared.reweighed]

    def redraw(rng: np.random.Generator, size: int) -> dict[int, list[StudyMetric]]:
        weights = side.drawn(rng, size)
        drawn = {row: rescored(shared.inputs, shared.rows[row], weights) for row in shared.reweighed}
        return {index: [_narrowed(each, metrics[index]) for each in drawn[row]] for index, row in changed}

    return Sources(results.ITEMS in parts, raters, redraw)


def _narrowed(drawn: StudyMetric, row: StudyMetric) -> StudyMetric:
    return replace(drawn, name=row.name, valid=np.asarray(drawn.valid) & np.asarray(row.valid))


def _pair(shared: Shared, place: int, of: dict[str, tuple[RowBootstrap, RowBootstrap]]) -> results.PairSources:
    lead = shared.inputs.sampling.coefficients[0]
    a, b = shared.own.compared[place]
    replicates = {name: (first.replicates[lead], second.replicates[lead]) for name, (first, second) in of.items()}
    return results.PairSources(
        first=shared.shown[a],
        second=shared.shown[b],
        difference=float(shared.own.differences[place]),
        ahead={name: share_ahead(*both) for name, both in replicates.items()},
        sources={
            name: _draws(replicates_interval(between_replicates(first - second)))
            for name, (first, second) in replicates.items()
        },
    )


def _draws(summary: BootstrapSummary) -> results.Draws:
    return results.Draws(ends(summary.interval), finite_or_none(summary.standard_error), summary.reason or "")
