"""Create, compute, cancel and repeat score runs."""

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from annotation.core.canonical import canonical_json
from annotation.core.jobs import Claim, job_claim, job_requeue, job_run
from annotation.core.progress import Progress, Throttle, noop
from annotation.core.shards import Enqueue, is_going_on, shards_help
from annotation.models import Dataset, JobState, Project, Release, System, User
from annotation.references.releases.selectors.releases import release_name
from metrics.errors import MetricsError, ScoreRunRefused
from metrics.models import ScoreRun
from metrics.scoring.metric import Metric, MetricStatistics, signature_line
from metrics.scoring.models.files import SHOWN
from metrics.scoring.registry import get_metric
from metrics.selectors.arrays import run_arrays, segment_items
from metrics.selectors.corpus import IntArray, texts_digests
from metrics.selectors.runs import ordered_systems
from metrics.services.models import parameters_with_models
from metrics.services.results import run_result, run_store
from metrics.services.scoring import Scorer, shard_fields
from metrics.services.shards import run_finish, shard_work, shards_done, shards_work, whole_run_store
from metrics.subsets import Subset

ALL = Subset()
HASHED = ("model", "text")  # kinds of parameters of which a signature may show only the first digits of a hash
# In a signature. Older runs, whose hashes have fewer digits, are not checked.
TEXTS = re.compile(rf"\|(outputs|sources):(?:\d+-)?([0-9a-f]{{{SHOWN}}})(?=\|)")
RESAMPLING_FROM = 90  # percent of a run when its shards are scored


@dataclass(frozen=True)
class RunTexts:
    """The texts of a run: outputs of systems, in the order of their names, and a release's references."""

    dataset: Dataset
    release: Release | None
    systems: Sequence[System]


def metric_from(name: str, parameters: Mapping[str, Any]) -> Metric:
    """Return the metric; the refusal names the field."""
    try:
        return get_metric(name, **parameters)
    except ValueError as error:
        field = str(error).split(":", 1)[0]
        field = "parameters" if field == name else field  # the metric itself names an unknown parameter
        raise ScoreRunRefused.at(field, str(error)) from error


def run_signature(texts: RunTexts, metric: Metric, subset: Subset, digests: Mapping[str, str]) -> tuple[str, str]:
    """Return a line that names everything the numbers depend on, with the first digits of hashes; and, to look up a
    run, the SHA-256 of that line with all hashes in full."""
    release = texts.release
    fields = metric.signature_fields()
    if metric.needs_weights:
        fields.append(("weights", "release"))
    if metric.needs_references:
        fields.append(("refs", str(subset)))
    if release is not None:
        fields.append(("release", f"{release_name(release)}-{release.content_hash[:8]}"))
    fields.append(("data", texts.dataset.slug))
    if release is not None:
        fields.append(("items", subset.items))
    fields.append(("outputs", f"{len(texts.systems)}-{digests['outputs'][:SHOWN]}"))
    if metric.needs_sources:
        fields.append(("sources", digests["sources"][:SHOWN]))
    line = signature_line(metric.name, fields, metric.version)
    full = {
        "signature": line,
        "named": {
            parameter.name: getattr(metric, parameter.name)
            for parameter in metric.parameter_list()
            if parameter.kind in HASHED
        },
        "release": "" if release is None else release.content_hash,
        "outputs": digests["outputs"],
        "sources": digests["sources"] if metric.needs_sources else "",
    }
    return line, hashlib.sha256(canonical_json(full)).hexdigest()


def score_run_create(
    *,
    project: Project,
    systems: Sequence[System],
    metric: str,
    parameters: Mapping[str, Any],
    by: User | None,
    release: Release | None = None,
    dataset: Dataset | None = None,
    subset: Subset = ALL,
) -> tuple[ScoreRun, bool]:
    """Return the run with this signature, and whether it is new. A new run is queued; the caller enqueues its task.

    With a release the items are the release's. Without one, for a metric that reads no references, they are the items
    of ``dataset`` that have an output of every system.
    """
    built = metric_from(metric, parameters_with_models(project, metric, parameters))
    if built.group == "external":
        raise ScoreRunRefused.at("metric", f"{built.label}: {built.unavailable()}")
    texts = _checked_texts(project, release, dataset, systems)
    return get_or_create_run(texts, built, subset, texts_digests(systems, sources=built.needs_sources), by)


def score_runs_create(
    *,
    project: Project,
    release: Release,
    systems: Sequence[System],
    rows: Sequence[tuple[Metric, Subset]],
    by: User | None,
) -> list[ScoreRun]:
    """Return runs of many metrics and subsets over the same texts, in the order of ``rows``."""
    texts = _checked_texts(project, release, None, systems)
    digests = texts_digests(systems, sources=any(metric.needs_sources for metric, _ in rows))
    return [get_or_create_run(texts, metric, subset, digests, by)[0] for metric, subset in rows]


def _checked_texts(
    project: Project, release: Release | None, dataset: Dataset | None, systems: Sequence[System]
) -> RunTexts:
    if release is not None:
        _check_release(project, release)
        dataset = release.reference_set.dataset
    elif dataset is None:
        raise ScoreRunRefused.at("dataset", "Choose a data set, or a release of one.")
    elif dataset.project_id != project.pk:
        raise ScoreRunRefused.at("dataset", "This data set belongs to another project.")
    if not systems:
        raise ScoreRunRefused.at("systems", "Choose at least one system.")
    foreign = [system.name for system in systems if system.dataset_id != dataset.pk]
    if foreign:
        raise ScoreRunRefused.at("systems", f"Not a system of data set {dataset}: {', '.join(foreign)}.")
    return RunTexts(dataset, release, sorted(set(systems), key=lambda system: system.name))


def _check_release(project: Project, release: Release) -> None:
    if release.reference_set.project_id != project.pk:
        raise ScoreRunRefused.at("release", "This release belongs to another project.")
    if release.state != JobState.DONE:
        message = f"Release {release} is {release.get_state_display().lower()}; accepted: a finished release."
        raise ScoreRunRefused.at("release", message)


@transaction.atomic
def get_or_create_run(
    texts: RunTexts, metric: Metric, subset: Subset, digests: Mapping[str, str], by: User | None
) -> tuple[ScoreRun, bool]:
    """Return the run with this signature, and whether it is new."""
    if texts.release is None and (metric.needs_references or metric.needs_weights):
        message = f"{metric.label} reads references; accepted: a finished release of them."
        raise ScoreRunRefused.at("release", message)
    if not metric.needs_references:  # the scores are the same whatever the subset: one run for all
        subset = Subset(items=subset.items) if texts.release else ALL
    signature, signature_hash = run_signature(texts, metric, subset, digests)
    # The unique constraint decides a race: the loser reads the winner's row once that is committed.
    run, created = ScoreRun.objects.get_or_create(
        project_id=texts.dataset.project_id,
        signature_hash=signature_hash,
        defaults={
            "dataset": texts.dataset,
            "release": texts.release,
            "metric": metric.name,
            "parameters": metric.parameters(),
            "subset": subset.as_dict(),
            "signature": signature,
            "requested_by": by,
        },
    )
    if created:
        run.systems.set(texts.systems)
    return run, created


def score_run_execute(*, run_id: int, progress: Progress = noop, enqueue: Enqueue = noop) -> None:
    """Claim, score, finish; safe to run twice. ``enqueue`` gets the number of helpers that would find work."""
    job_run(ScoreRun, run_id, lambda run, claim: _score(run, claim, enqueue), progress=progress)


def score_run_help(*, run_id: int) -> bool:
    """Take shards of a run that another worker holds, for one turn. Return whether there may be more."""
    run = ScoreRun.objects.filter(pk=run_id).select_related("release__reference_set").first()
    if run is None or not is_going_on(run):
        return False
    return shards_help(run, run.shards.all(), shard_work(run, metric_from(run.metric, run.parameters)))


def _score(run: ScoreRun, claim: Claim, enqueue: Enqueue) -> None:
    started = time.monotonic()
    metric = metric_from(run.metric, run.parameters)
    progress = RunProgress(run, claim)
    resumed = shards_done(run)[0] > 0
    shards_work(run, claim, metric, progress.shards, enqueue)
    result = run_result(run, progress.resampled)
    _check_outputs(run)
    with transaction.atomic():
        claim.lock()
        report = run_store(run, result)
        if not resumed:  # the time of earlier attempts is not known
            report = report | {"job_seconds": round(time.monotonic() - started, 3)}
        claim.finish(report=report, progress_note="")


def _check_outputs(run: ScoreRun) -> None:
    """Fail the run if its texts are no longer those that its signature names."""
    named = dict(TEXTS.findall(run.signature))
    current = texts_digests(ordered_systems(run), sources="sources" in named)
    for texts, digits in named.items():
        if not current[texts].startswith(digits):
            raise MetricsError(f"The {texts} were changed while they were scored. Start the run again.")


class RunProgress:
    """Report a run's progress in percent."""

    def __init__(self, run: ScoreRun, claim: Claim) -> None:
        self.run, self.claim = run, claim
        self.throttle = Throttle()

    def shards(self) -> None:
        if self.throttle.due():
            done, total = shards_done(self.run)
            note = f"{done:,} of {total:,} parts scored" if total > 1 else "Scoring"
            self.claim.progress(RESAMPLING_FROM * done // max(total, 1), 100, note)

    def resampled(self, done: int, total: int) -> None:
        if self.throttle.due():
            self.claim.progress(RESAMPLING_FROM + (100 - RESAMPLING_FROM) * done // total, 100, "Resampling")


def score_run_compute(*, run: ScoreRun, scorer: Scorer, statistics: MetricStatistics) -> None:
    """Store statistics that the caller has computed, unless the run is done or another worker holds it."""
    job_requeue(run)
    claim = job_claim(ScoreRun, run.pk)
    if claim is None:
        return
    metric, subset = metric_from(run.metric, run.parameters), Subset.from_mapping(run.subset)
    fields = shard_fields(scorer, metric, subset, statistics)
    with transaction.atomic():
        claim.lock()
        whole_run_store(run, fields)
        claim.finish(report=run_finish(run))


def score_run_statistics(run: ScoreRun, item_ids: IntArray) -> MetricStatistics | None:
    """Return the statistics of a finished run that scored exactly these items (S,); otherwise None.

    Metrics that pool a system's outputs store no statistics: None, too.
    """
    if run.state != JobState.DONE or run.report.get("pooled"):
        return None
    if not np.array_equal(segment_items(run), item_ids):
        return None
    return run_arrays(run).statistics()
