"""Compute a study: score runs, table, intervals, sweeps. A pure function of what the specification names."""

import time

import numpy as np
from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.core.progress import Progress, noop
from correlations.errors import StudyError
from correlations.models import Study
from correlations.results.study import Counts, Dropped, Items, Seconds, StudyResult
from correlations.selectors.inputs import HumanSide, circularity
from correlations.services.inputs import Row, StudyInputs, counts, rated_corpus, versions
from correlations.services.progress import StagedProgress
from correlations.services.stored import imported_run, imported_statistics
from correlations.services.sweeps import study_sweeps
from correlations.services.table import study_table
from correlations.specification import Specification
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.external import External
from metrics.scoring.metric import Metric, MetricStatistics, metric_labels
from metrics.selectors.corpus import Corpus
from metrics.services.runs import (
    GroupOf,
    score_run_compute,
    score_run_part,
    score_run_statistics,
    score_runs_create,
    score_runs_wider,
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
    "Sweep over thresholds": 20,
    "Sweep over orders": 6,
    "Sweep over unit sizes": 10,
}


def study_execute(*, study_id: int, progress: Progress = noop) -> None:
    """Claim the study, compute it and store the result; safe to run again after a worker died."""
    job_run(Study, study_id, _compute, progress=progress)


def _compute(study: Study, claim: Claim) -> None:
    started = time.monotonic()
    progress = StagedProgress(claim, STAGES)
    inputs = _load(study, progress)
    loaded = time.monotonic()
    table = study_table(inputs, progress)
    tabled = time.monotonic()
    sweeps = study_sweeps(inputs, progress) if inputs.specification.sweeps else {}
    result = StudyResult(
        **vars(table),
        sweeps=sweeps,
        items=_items(inputs.corpus),
        circularity=circularity(inputs.corpus, study.release, inputs.human),
        counts=Counts(
            **counts(study, inputs.corpus, inputs.human),
            systems=len(inputs.corpus.systems),
            pairs=len(inputs.pairs),
            references_negative=int((inputs.corpus.weights < 0).sum()),
            judgements_incomplete=inputs.human.table.n_incomplete,
        ),
        versions=versions(),
        seed=inputs.specification.seed,
        seconds=Seconds(
            scores=round(loaded - started, 2),
            table=round(tabled - loaded, 2),
            sweeps=round(time.monotonic() - tabled, 2),
        ),
    )
    with transaction.atomic():
        claim.lock()
        study.score_runs.set([row.run for row in inputs.rows])
        claim.finish(result=result.to_json())


def _load(study: Study, progress: StagedProgress) -> StudyInputs:
    progress.stage("Loading")
    spec = Specification.from_mapping(study.specification)
    corpus, human = rated_corpus(study, spec.systems, spec.criteria, items="positive")
    index_of = {system.name: index for index, system in enumerate(corpus.systems)}
    pairs = np.array([(index_of[a], index_of[b]) for a, b in spec.pairs], dtype=np.int64)
    _check_ratings(spec, human, index_of)
    # The n-grams are matched once, up to the order sweep's end.
    computed = [metric for metric in spec.built_metrics() if metric.name != External.name]
    scorer = Scorer(corpus, [*computed, *(spec.metrics_at_order(SWEEP_ORDER) if spec.sweeps else [])])
    rows = _rows(study, spec, scorer, progress)
    return StudyInputs(spec, corpus, scorer, human, pairs, rows)


def _check_ratings(spec: Specification, human: HumanSide, index_of: dict[str, int]) -> None:
    rated = ~np.isnan(human.mean)
    for a, b in spec.pairs:
        if not (rated[index_of[a]] & rated[index_of[b]]).any():
            raise StudyError(
                f"No item has ratings of both {a} and {b} in {', '.join(spec.campaigns)}; "
                "leave the pair out, or name the campaigns that rated them."
            )


def _rows(study: Study, spec: Specification, scorer: Scorer, progress: StagedProgress) -> list[Row]:
    """Return the table's rows. Each is a score run, computed here unless it, or one over more items, exists."""
    metrics = spec.built_metrics()
    labels = dict(zip(metrics, metric_labels(metrics), strict=True))
    table_rows = spec.built_rows()
    systems, computed = scorer.corpus.systems, [row for row in table_rows if row[0].name != External.name]
    wider = score_runs_wider(release=study.release, systems=systems, rows=computed)
    runs = score_runs_create(
        project=study.project,
        release=study.release,
        systems=systems,
        rows=computed,
        by=study.requested_by,
        group=GroupOf(RunOrigin.STUDY, study.pk, study.name),
    )
    to_score = zip(runs, wider, strict=True)
    report = progress.stage("Scoring")
    rows = []
    for index, (metric, subset) in enumerate(table_rows):
        if metric.name == External.name:
            run = imported_run(study.project, study.dataset_id, metric, spec.systems)
            statistics = imported_statistics(run, scorer.corpus)
        else:
            run, over_more = next(to_score)
            statistics = _scored(run, over_more, metric, subset, scorer)
        rows.append(Row(metric, labels[metric], subset, statistics, run))
        report(index + 1, len(table_rows))
    return rows


def _scored(
    run: ScoreRun, over_more: ScoreRun | None, metric: Metric, subset: Subset, scorer: Scorer
) -> MetricStatistics:
    stored = score_run_statistics(run, scorer.corpus.item_ids)
    if stored is not None:
        return stored
    statistics = score_run_part(over_more, scorer.corpus) if over_more else None
    if statistics is None:
        statistics = scorer.statistics(metric, subset)
    score_run_compute(run=run, scorer=scorer, statistics=statistics)
    return statistics


def _items(corpus: Corpus) -> Items:
    dropped = (Dropped(reason, len(names), tuple(names)) for reason, names in sorted(corpus.dropped.items()))
    return Items(len(corpus.external_ids), tuple(dropped))
