"""Compute a study: score runs, table, intervals, sweeps. A pure function of what the specification names."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.core.progress import Progress, noop
from annotation.core.shards import Enqueue
from annotation.models import Campaign
from correlations.errors import StudyError
from correlations.models import Study
from correlations.results.study import Counts, Dropped, Items, Seconds, StudyResult
from correlations.selectors.inputs import HumanSide, circularity
from correlations.services.ceilings import study_ceilings
from correlations.services.draws import RowOutputs
from correlations.services.inputs import (
    UNRATED,
    UNSCORED,
    Read,
    Row,
    StudyInputs,
    Texts,
    counts,
    read_corpus,
    row_reads,
    study_ratings,
    study_texts,
    versions,
)
from correlations.services.levels import study_levels
from correlations.services.progress import StagedProgress
from correlations.services.rated_outputs import RatedOutputs
from correlations.services.sensitivity import STAGES as SENSITIVITY_STAGES
from correlations.services.sensitivity import study_sensitivity
from correlations.services.sharing import Alone, Resampler, Shared, draws_delete
from correlations.services.significance import rows_compared, study_significance
from correlations.services.stored import imported_run, imported_statistics
from correlations.services.sweeps import study_sweeps
from correlations.services.table import study_table
from correlations.services.worth import study_worth
from correlations.specification import Specification
from correlations.stats.units import counted_by_pair
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.external import External
from metrics.scoring.metric import Metric, MetricStatistics, metric_labels
from metrics.selectors.corpus import Corpus
from metrics.services.runs import (
    GroupOf,
    score_run_compute,
    score_run_signatures,
    score_run_statistics,
    score_runs_create,
)
from metrics.services.scoring import Scorer
from metrics.subsets import Subset

SWEEP_ORDER = 4
STAGES = {
    "Loading": 4,
    "Scoring": 10,
    "Table": 22,
    "Intervals over items": 12,
    "Intervals over raters": 16,
    "Table over shared items": 8,
    "Intervals over shared items": 6,
    "Raters among themselves": 2,
    "In place of a rater": 2,
    "Resamples of items and systems": 4,
    "By system and by output": 2,
    "Metric against metric": 4,
    "Sweep over thresholds": 20,
    "Sweep over orders": 6,
    "Sweep over unit sizes": 10,
}


def study_execute(*, study_id: int, progress: Progress = noop, enqueue: Enqueue = noop) -> None:
    """Claim the study, compute it and store the result; safe to run again after a worker died.

    ``enqueue`` gets the number of helpers that would find work.
    """
    job_run(Study, study_id, lambda study, claim: _compute(study, claim, enqueue), progress=progress)


def _compute(study: Study, claim: Claim, enqueue: Enqueue) -> None:
    result, inputs = study_result(study, claim.progress, resampler=Shared(study, claim, enqueue))
    with transaction.atomic():
        claim.lock()
        draws_delete(study)
        study.score_runs.set([row.run for row in inputs.rows if row.run is not None])
        claim.finish(result=result.to_json())


def study_result(
    study: Study, report: Progress, *, campaigns: Sequence[Campaign] = (), resampler: Resampler | None = None
) -> tuple[StudyResult, StudyInputs]:
    """Return the result of a study, and what it was computed from.

    A study that is not stored gets its ``campaigns``; then no stored score is read, no score run is made and none is
    named: all is computed from texts. ``resampler`` draws the resamples, by default in this process.
    """
    started = time.monotonic()
    with_sensitivity = bool(study.specification.get("sensitivity"))
    progress = StagedProgress(report, STAGES | SENSITIVITY_STAGES if with_sensitivity else STAGES)
    inputs = _load(study, progress, campaigns)
    loaded = time.monotonic()
    resampler = resampler or Alone()
    table = study_table(inputs, progress, resampler)
    progress.stage("Raters among themselves")
    outputs = RatedOutputs.of(inputs, study.project_id)
    ceilings = study_ceilings(inputs, outputs)
    progress.stage("In place of a rater")
    worth = study_worth(inputs, outputs)
    compared = rows_compared(table)
    rows = RowOutputs.of(inputs, compared.pairs)
    draws = resampler.systems(rows, progress.stage("Resamples of items and systems"))
    levels = study_levels(rows, draws, progress.stage("By system and by output"))
    significance = study_significance(rows, draws, compared, progress.stage("Metric against metric"))
    tabled = time.monotonic()
    sweeps = study_sweeps(inputs, progress) if inputs.specification.sweeps else {}
    swept = time.monotonic()
    sensitivity = study_sensitivity(inputs, table, study.release, progress) if with_sensitivity else None
    referenced = inputs.referenced
    result = StudyResult(
        **vars(table),
        ceilings=ceilings,
        worth=worth,
        levels=levels,
        significance=significance,
        sweeps=sweeps,
        sensitivity=sensitivity,
        items=_items(inputs),
        circularity=circularity(referenced or inputs.corpus, study.release, inputs.judged, inputs.corpus.item_ids),
        counts=Counts(
            **counts(study, referenced, inputs.judged),
            systems=len(inputs.corpus.systems),
            pairs=len(inputs.pairs),
            references_negative=0 if referenced is None else int((referenced.weights < 0).sum()),
            judgements_incomplete=inputs.human.table.n_incomplete,
        ),
        versions=versions(),
        seed=inputs.specification.seed,
        seconds=Seconds(
            scores=round(loaded - started, 2),
            table=round(tabled - loaded, 2),
            sweeps=round(swept - tabled, 2),
        ),
    )
    return result, inputs


def _load(study: Study, progress: StagedProgress, campaigns: Sequence[Campaign]) -> StudyInputs:
    progress.stage("Loading")
    spec = Specification.from_mapping(study.specification)
    run_texts = study_texts(study, spec.systems)
    swept = [(metric, spec.built_sweep_subset) for metric in spec.built_metrics() if spec.sweeps]
    reads = dict.fromkeys(row_reads(run_texts, metric, subset) for metric, subset in (*spec.built_rows(), *swept))
    corpora = {read: read_corpus(run_texts, read) for read in reads}
    if len(corpora) == 1:
        (corpus,) = corpora.values()
    else:
        corpus = corpora.get(Read()) or read_corpus(run_texts, Read())
    human = study_ratings(study, corpus, spec, campaigns)
    index_of = {system.name: index for index, system in enumerate(corpus.systems)}
    pairs = np.array([(index_of[a], index_of[b]) for a, b in spec.pairs], dtype=np.int64)
    _check_ratings(spec, human, index_of)
    texts = {read: _texts(spec, read, each, corpus) for read, each in corpora.items()}
    inputs = StudyInputs(spec, corpus, texts, run_texts, human, pairs, [])
    return _with_rows(study, inputs, progress)


def _texts(spec: Specification, read: Read, corpus: Corpus, whole: Corpus) -> Texts:
    # The n-grams are matched once, up to the order sweep's end.
    swept = spec.metrics_at_order(SWEEP_ORDER) if spec.sweeps else []
    computed = [metric for metric in spec.built_metrics() if metric.name != External.name]
    reading = [metric for metric in (*computed, *swept) if metric.needs_references == bool(read.references)]
    order = np.argsort(whole.item_ids)
    places = order[np.searchsorted(whole.item_ids, corpus.item_ids, sorter=order)]
    return Texts(corpus, Scorer(corpus, reading), places)


def _check_ratings(spec: Specification, human: HumanSide, index_of: dict[str, int]) -> None:
    rated = ~np.isnan(human.mean)
    for a, b in spec.pairs:
        if not (rated[index_of[a]] & rated[index_of[b]]).any():
            raise StudyError(
                f"No item has ratings of both {a} and {b} in {', '.join(spec.campaigns)}; "
                "leave the pair out, or name the campaigns that rated them."
            )


def _with_rows(study: Study, inputs: StudyInputs, progress: StagedProgress) -> StudyInputs:
    """Return the inputs with the table's rows."""
    spec, stored = inputs.specification, study.pk is not None
    metrics = spec.built_metrics()
    labels = dict(zip(metrics, metric_labels(metrics), strict=True))
    table_rows = spec.built_rows()
    runs = _runs(study, inputs) if stored else {}
    signatures = {row: run.signature for row, run in runs.items()} if stored else _signatures(study, inputs)
    report = progress.stage("Scoring")
    rows = []
    run: ScoreRun | None
    for index, (metric, subset) in enumerate(table_rows):
        if metric.name == External.name:
            imported = imported_run(study.project, study.dataset_id, metric, spec.systems)
            run, statistics = imported, imported_statistics(imported, inputs.corpus)
            signatures[metric, subset] = imported.signature
        else:
            texts = inputs.texts[row_reads(inputs.run_texts, metric, subset)]
            run = runs.get((metric, subset))
            statistics = texts.placed(_scored(run, metric, subset, texts), inputs.n_items)
        signature = signatures.get((metric, subset)) or metric.signature(weights="release", references=str(subset))
        counted = inputs.counted_items(statistics)
        rows.append(Row(metric, labels[metric], subset, statistics, counted, signature, run))
        report(index + 1, len(table_rows))
    return replace(inputs, rows=rows)


def _runs(study: Study, inputs: StudyInputs) -> dict[tuple[Metric, Subset], ScoreRun]:
    """Return the score runs of rows that one can hold: a run is over items that every system answers."""
    rows = _rows_of_runs(inputs)
    runs = score_runs_create(
        project=study.project,
        release=study.release,
        dataset=study.dataset,
        systems=inputs.corpus.systems,
        rows=rows,
        by=study.requested_by,
        group=GroupOf(RunOrigin.STUDY, study.pk, study.name),
    )
    return dict(zip(rows, runs, strict=True))


def _signatures(study: Study, inputs: StudyInputs) -> dict[tuple[Metric, Subset], str]:
    """Return the signatures that the score runs of rows have, without making any."""
    rows = _rows_of_runs(inputs)
    lines = score_run_signatures(
        project=study.project, release=study.release, dataset=study.dataset, systems=inputs.corpus.systems, rows=rows
    )
    return dict(zip(rows, lines, strict=True))


def _rows_of_runs(inputs: StudyInputs) -> list[tuple[Metric, Subset]]:
    return [
        (metric, subset)
        for metric, subset in inputs.specification.built_rows()
        if metric.name != External.name
        and inputs.texts[row_reads(inputs.run_texts, metric, subset)].corpus.answered.all()
    ]


def _scored(run: ScoreRun | None, metric: Metric, subset: Subset, texts: Texts) -> MetricStatistics:
    stored = None if run is None else score_run_statistics(run, texts.corpus.item_ids)
    if stored is not None:
        return stored
    statistics = texts.scorer.statistics(metric, subset)
    if run is not None:
        score_run_compute(run=run, scorer=texts.scorer, statistics=statistics)
    return statistics


def _items(inputs: StudyInputs) -> Items:
    """Return how many items count in any row, and why the others do not."""
    corpus, used = inputs.corpus, inputs.used
    dropped = dict(corpus.dropped)
    rated = counted_by_pair(np.ones(used.size, dtype=np.bool_), inputs.human.mean, inputs.pairs).any(axis=0)
    for reason, left_out in ((UNRATED, ~rated), (UNSCORED, rated & ~used)):
        if left_out.any():
            dropped[reason] = [corpus.external_ids[index] for index in np.flatnonzero(left_out).tolist()]
    entries = (Dropped(reason, len(names), tuple(names)) for reason, names in sorted(dropped.items()))
    return Items(int(used.sum()), tuple(entries))
