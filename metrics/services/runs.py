"""Create, compute, cancel and repeat score runs."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.models import JobState, Project, Release, System, User
from annotation.selectors.releases import release_name
from annotation.services.jobs import Claim, job_claim, job_requeue, job_run
from metrics.errors import MetricsError, ScoreRunRefused
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.metric import Metric, MetricStatistics
from metrics.scoring.registry import get_metric
from metrics.selectors.corpus import load_corpus, outputs_digest
from metrics.services.scoring import Scorer, run_report, system_score_fields
from metrics.subsets import Subset


def metric_from(name: str, parameters: Mapping[str, Any]) -> Metric:
    """The metric, or a refusal that names the field."""
    try:
        return get_metric(name, **parameters)
    except ValueError as error:
        field = str(error).split(":", 1)[0]
        field = "parameters" if field == name else field  # an unknown parameter is told by the metric
        raise ScoreRunRefused(str(error), fields={field: [str(error)]}) from error


def run_signature(metric: Metric, subset: Subset, release: Release, systems: Sequence[System], digest: str) -> str:
    """One line that names everything the numbers depend on; a changed weight or output changes it."""
    parts = [
        str(subset),
        f"release:{release_name(release)}-{release.content_hash[:8]}",
        f"data:{release.reference_set.dataset.slug}",
        f"items:{subset.items}",
        f"outputs:{len(systems)}-{digest}",
    ]
    return metric.signature(weights="release", references="|".join(parts))


def score_run_create(
    *,
    project: Project,
    release: Release,
    systems: Sequence[System],
    metric: str,
    parameters: Mapping[str, Any],
    subset: Subset,
    by: User | None,
) -> tuple[ScoreRun, bool]:
    """The run with this signature, and whether it is new. A new one is queued; the caller enqueues its task."""
    built = metric_from(metric, parameters)
    ordered = _checked_systems(project, release, systems)
    return _get_or_create(project, release, ordered, built, subset, outputs_digest(ordered), by)


def score_runs_create(
    *,
    project: Project,
    release: Release,
    systems: Sequence[System],
    rows: Sequence[tuple[Metric, Subset]],
    by: User | None,
) -> list[ScoreRun]:
    """Runs of many metrics and subsets over the same texts, in the order of ``rows``."""
    ordered = _checked_systems(project, release, systems)
    digest = outputs_digest(ordered)
    return [_get_or_create(project, release, ordered, metric, subset, digest, by)[0] for metric, subset in rows]


def _checked_systems(project: Project, release: Release, systems: Sequence[System]) -> list[System]:
    if release.reference_set.project_id != project.pk:
        raise ScoreRunRefused("This release belongs to another project.", fields={"release": ["Not in this project."]})
    if release.state != JobState.DONE:
        message = f"Release {release} is {release.get_state_display().lower()}; accepted: a finished release."
        raise ScoreRunRefused(message, fields={"release": [message]})
    if not systems:
        raise ScoreRunRefused("No system was chosen.", fields={"systems": ["Choose at least one system."]})
    foreign = [system.name for system in systems if system.dataset_id != release.reference_set.dataset_id]
    if foreign:
        message = f"Not a system of data set {release.reference_set.dataset}: {', '.join(foreign)}."
        raise ScoreRunRefused(message, fields={"systems": [message]})
    return sorted(set(systems), key=lambda system: system.name)


@transaction.atomic
def _get_or_create(
    project: Project,
    release: Release,
    systems: Sequence[System],
    metric: Metric,
    subset: Subset,
    digest: str,
    by: User | None,
) -> tuple[ScoreRun, bool]:
    signature = run_signature(metric, subset, release, systems, digest)
    # The unique constraint decides a race: the loser reads the winner's row once that is committed.
    run, created = ScoreRun.objects.get_or_create(
        project=project,
        signature_hash=hashlib.sha256(signature.encode()).hexdigest(),
        defaults={
            "dataset_id": release.reference_set.dataset_id,
            "release": release,
            "metric": metric.name,
            "parameters": metric.parameters(),
            "subset": subset.as_dict(),
            "signature": signature,
            "requested_by": by,
        },
    )
    if created:
        run.systems.set(systems)
    return run, created


def score_run_execute(*, run_id: int) -> None:
    """Claim the run, score every system, store all of it at once."""
    job_run(ScoreRun, run_id, _score)


def _score(run: ScoreRun, claim: Claim) -> None:
    started = time.monotonic()
    subset = Subset.from_mapping(run.subset)
    metric = metric_from(run.metric, run.parameters)
    claim.progress(0, 3, "Loading texts")
    corpus = load_corpus(run.release, list(run.systems.order_by("name")), items=subset.items)
    if not corpus.external_ids:
        counts = "; ".join(f"{reason}: {len(names)}" for reason, names in corpus.dropped.items())
        raise MetricsError(f"No item can be scored. Left out: {counts or 'the data set is empty'}.")
    claim.progress(1, 3, "Scoring")
    scorer = Scorer(corpus, [metric])
    statistics = scorer.statistics(metric, subset)
    claim.progress(2, 3, "Storing")
    _store(run, claim, scorer, statistics, time.monotonic() - started)


def _store(run: ScoreRun, claim: Claim, scorer: Scorer, statistics: MetricStatistics, seconds: float) -> None:
    subset = Subset.from_mapping(run.subset)
    metric = metric_from(run.metric, run.parameters)
    corpus = scorer.corpus
    scores = [
        SystemScore(run=run, system=system, **system_score_fields(statistics, place))
        for place, system in enumerate(corpus.systems)
    ]
    with transaction.atomic():
        claim.lock()
        run.scores.all().delete()
        SystemScore.objects.bulk_create(scores)
        claim.finish(item_ids=corpus.item_ids.tolist(), report=run_report(corpus, metric, subset, statistics, seconds))


def score_run_compute(*, run: ScoreRun, scorer: Scorer, statistics: MetricStatistics, seconds: float) -> None:
    """Store statistics that the caller already has (a study's), unless the run is done or somebody is at it."""
    job_requeue(run)
    claim = job_claim(ScoreRun, run.pk)
    if claim is not None:
        _store(run, claim, scorer, statistics, seconds)
